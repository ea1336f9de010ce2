package agent

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// dated are words that make a period one of documents rather than of what they tell about, folded. A number alone, as in "the 2028 policy", is no period.
var dated = []string{
	"published", "publication", "dated", "written", "updated", "revised", "issued", "created", "effective", "took effect", "take effect", "came into force", "in force since",
	"document from", "document of", "file from", "report from", "rule from", "paper from", "news from", "page from",
	"publie", "publiee", "date de", "datant de", "mis a jour", "entre en vigueur", "entree en vigueur", "document de", "redige",
	"veroffentlicht", "datiert", "aktualisiert", "in kraft getreten", "dokument von", "dokument aus",
	"publicado", "fechado", "actualizado", "documento de",
}

// datedHan stand behind a period.
var datedHan = []string{"发布", "生效", "更新", "发表", "颁布", "的文件", "的文档", "的资料", "的材料", "修订"}

// datedReach is how many words may stand between such a word and the period: "published by the office in 2024".
const datedReach = 6

// periods are the forms of a period of time, matched with folded text: groups from and to are days, months or years.
var periods = []*regexp.Regexp{
	regexp.MustCompile(`(?:between|from|entre|de|zwischen|von|desde|从|自) ?(?P<from>` + dayForm + `)年? ?(?:and|to|until|till|et|a|und|bis|y|hasta|到|至|和) ?(?P<to>` + dayForm + `)年?`),
	regexp.MustCompile(`(?:since|from|after|depuis|apres|seit|nach|desde|despues de|从|自) ?(?P<from>` + dayForm + `)(?: on| onwards)?`),
	regexp.MustCompile(`(?P<from>` + dayForm + `)年?(?:以后|之后|以来|起)`),
	regexp.MustCompile(`(?:until|before|up to|avant|jusqu'en|vor|bis|antes de|hasta) ?(?P<to>` + dayForm + `)`),
	regexp.MustCompile(`(?P<to>` + dayForm + `)年?(?:以前|之前)`),
	regexp.MustCompile(`(?P<in>` + dayForm + `)年?`),
}

const dayForm = `(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?`

// isPeriod is a whole text that is a year, a month or a day.
var isPeriod = regexp.MustCompile(`^` + dayForm + `$`)

// exclusive begin a period behind the day, or end one before it, that they stand with.
var exclusive = regexp.MustCompile(`^(?:after|apres|nach|despues de|before|avant|vor|antes de)`)

// dateCondition is the condition that a period named in the question puts on a field of days. Where several fields could be
// meant there is none.
func dateCondition(t text, fields []Field) rag.Filter {
	for _, form := range periods {
		at := form.FindStringSubmatchIndex(t.folded)
		if at == nil {
			continue
		}
		f, ok := dayField(t, fields, span{at[0], at[1]})
		if !ok {
			return rag.Filter{}
		}
		group := func(name string) string {
			i := form.SubexpIndex(name)
			if i < 0 || at[2*i] < 0 {
				return ""
			}
			return t.folded[at[2*i]:at[2*i+1]]
		}
		from, to := group("from"), group("to")
		if in := group("in"); in != "" {
			from, to = in, in
		}
		return between(f.Name, from, to, exclusive.MatchString(t.folded[at[0]:at[1]]))
	}
	return rag.Filter{}
}

// between is a condition on days: from the first day of a period to the last day of another; "" is open.
func between(field, from, to string, exclusive bool) rag.Filter {
	var b rag.Bounds
	if from != "" {
		if b.GTE = firstDay(from); exclusive {
			b.GTE, b.GT = nil, lastDay(from)
		}
	}
	if to != "" {
		if b.LTE = lastDay(to); exclusive {
			b.LTE, b.LT = nil, firstDay(to)
		}
	}
	return rag.Range(field, b)
}

// dayField is the field that a period in the question is about: the one whose words stand before it, or the only one there
// is if the question says that it speaks of documents.
func dayField(t text, fields []Field, at span) (Field, bool) {
	near := readText(strings.Join(reversed(t.before(at.start+1, datedReach)), " "))
	behind := t.runesAfter(at.end, hanReach)
	var days []Field
	for _, f := range fields {
		if !f.Days {
			continue
		}
		if near.has(f.Words) {
			return f, true
		}
		days = append(days, f)
	}
	if len(days) != 1 || !near.has(dated) && !hasAny(behind, datedHan) {
		return Field{}, false
	}
	return days[0], true
}

func reversed(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[len(words)-1-i] = w
	}
	return out
}

// firstDay and lastDay are the ends of a year, a month or a day, as days.
func firstDay(s string) string { return s + "-01-01"[min(len(s)-4, 6):] }

func lastDay(s string) string {
	switch len(s) {
	case len("2006"):
		return s + "-12-31"
	case len("2006-01"):
		year, _ := strconv.Atoi(s[:4])
		month, _ := strconv.Atoi(s[5:])
		return fmt.Sprintf("%s-%02d", s, time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day())
	}
	return s
}
