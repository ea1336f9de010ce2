package cite

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest citation, and longest link behind one, in bytes: what is longer is text.
const (
	maxMarker = 96
	maxLink   = 2048
)

// Brackets that citations are written in.
const (
	openers = "[(［（【〔⟦〖❲﹝⟨"
	closers = "])］）】〕⟧〗❳﹞⟩"
)

// anyNumber as a number of sources lets every number pass.
const anyNumber = -1

// group is what one pair of brackets cites.
type group struct {
	items  []item
	size   int    // bytes, with a link behind it
	plain  bool   // a number in round brackets, which may be no citation
	reason string // why part of it, or all, cites nothing
}

// item is a number, or numbers from and to.
type item struct{ from, to int }

// within returns the sources that an item names, and why some of it names none.
func (i item) within(sources int) (numbers []int, why string) {
	if sources == anyNumber {
		return []int{i.from}, ""
	}
	lo, hi := min(i.from, i.to), max(i.from, i.to)
	switch {
	case hi > sources:
		why = Count(sources)
	case lo < 1:
		why = "sources are numbered from 1"
	}
	for n := max(lo, 1); n <= min(hi, sources); n++ {
		numbers = append(numbers, n)
	}
	return numbers, why
}

// Count says how many sources there are: "there are 4 sources".
func Count(sources int) string {
	switch sources {
	case 0:
		return "there are no sources"
	case 1:
		return "there is 1 source"
	}
	return fmt.Sprintf("there are %d sources", sources)
}

// What may stand before a number in a citation.
const label = `(?:(?:see|voir|cf\.?|vgl\.?|参见|见)\s*)?(?:sources?|src|refs?\.?|references?|références?|réfs?\.?|docs?\.?|documents?|passages?|citations?|cite|extraits?|quellen?|来源|來源|资料|文档|文献|出处|参考|引用|片段)`

// noteLabel may stand before a number in square brackets. In round ones it names a note of the text: "(note 2)".
const noteLabel = `(?:notes?|footnotes?|fn\.?|fu(?:ß|ss)noten?|anm\.?|nota|n[°º]|nr\.?|no\.|[脚腳]?[注註][释釋]?)`

// dressing is what models put around a number inside of the brackets, and doubt or a full stop behind it.
const dressing = "*_`\"'“”‘’ "

var (
	labelled = regexp.MustCompile(`(?i)^` + label + `(\s*[:：#.°№-]*\s*)`)
	number   = `(?:(?:` + label + `|` + noteLabel + `)\s*[:：#.°№]*\s*)?[\^#]?\s*([-−]?\d+)\^?`
	amount   = regexp.MustCompile(`^\d{1,3}(?:[,.'’\s]\d{3})+(?:[,.]\d+)?$`) // [1,000] is a thousand
	oneItem  = regexp.MustCompile(`(?i)^` + number + `(?:\s*(?:[-–—~～−]|\.{2,3}|…|to|à|bis|至|到)\s*` + number + `)?`)
	between  = regexp.MustCompile(`(?i)^\s*(?:[,;、，；/&+]|and|et|und|和|及|与)\s*|^\s+`)
	ofFile   = regexp.MustCompile(`^\d+:\d+†`) // 【4:0†leave.md】 counts calls of a tool that was never called here
	behind   = regexp.MustCompile(`(?i)^\s*(?:†|[:：|]\s*\D|[,，;；]?\s*(?:pp?\.?|pages?|s\.|§|sect(?:ion)?|lines?|lignes?|第)\s*\d)`)
)

// readGroup reads the citation that a text begins with.
func readGroup(text string) (g group, ok bool) {
	escaped := strings.HasPrefix(text, `\[`)
	if escaped {
		text = text[1:]
	}
	opener, size := utf8.DecodeRuneInString(text)
	if text == "" || !strings.ContainsRune(openers, opener) {
		return g, false
	}
	end := closing(text)
	if end < 0 {
		return g, false
	}
	closer, width := utf8.DecodeLastRuneInString(text[:end])
	content := text[size : end-width]
	if escaped {
		content = strings.TrimSuffix(content, `\`)
	}
	round := strings.ContainsRune("(（", opener)
	if round != strings.ContainsRune(")）", closer) || !g.read(content, round) {
		return g, false
	}
	g.size = end
	for n := link(text[g.size:]); n > 0; n = link(text[g.size:]) {
		if len(g.items) > 0 && !g.plain {
			g.reason = "a link is no source"
		}
		g.size += n
	}
	if escaped {
		g.size++
	}
	return g, true
}

// closing returns the end of the brackets that a text opens, -1 if they do not close soon.
func closing(text string) int {
	open := 0
	for i, r := range text[:min(len(text), maxMarker)] {
		switch {
		case r == '\n':
			return -1
		case r < unicode.MaxASCII && !strings.ContainsRune("[]()", r): // nearly all
		case strings.ContainsRune(openers, r):
			open++
		case strings.ContainsRune(closers, r):
			if open--; open == 0 {
				return i + utf8.RuneLen(r)
			}
		}
	}
	return -1
}

// read takes the numbers out of what stands in brackets; ok is false if it is no citation.
func (g *group) read(content string, round bool) (ok bool) {
	nested := strings.ContainsAny(content, openers)
	content = strings.TrimSpace(strings.Map(plain, content))
	if amount.MatchString(content) {
		return false
	}
	if nested && !round || nested && strings.Trim(content, " 0123456789,;-^") == "" {
		round = false // brackets in brackets: [[1]], ([1])
	}
	if !round {
		content = strings.Trim(strings.TrimRight(strings.Trim(content, dressing), "?!.…,; "), dressing)
	}
	rest := content
	for !ofFile.MatchString(content) {
		m := oneItem.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		i := item{atoi(m[1]), atoi(m[1])}
		if m[2] != "" {
			i.to = atoi(m[2])
		}
		g.items = append(g.items, i)
		if rest = rest[len(m[0]):]; rest == "" {
			break
		}
		sep := between.FindString(rest)
		if sep == "" || oneItem.FindString(rest[len(sep):]) == "" {
			break
		}
		rest = rest[len(sep):]
	}
	named := labelled.FindStringSubmatch(content)
	switch {
	case len(g.items) == 0:
		note := strings.HasPrefix(content, "^") && len(content) > 1 && !strings.ContainsFunc(content, unicode.IsSpace)
		if !(note && !round) && !ofFile.MatchString(content) && !(named != nil && strings.ContainsAny(named[1], ":：")) && content != "n" {
			return false
		}
		g.reason = "it names no source by number"
		return !round || named != nil
	case rest != "" && !behind.MatchString(rest):
		return false
	case round && named == nil:
		g.plain = true
		return rest == "" && !strings.ContainsFunc(content, unicode.IsLetter) && g.small()
	}
	return true
}

// small reports whether all numbers have at most two digits: others in round brackets are years and amounts.
func (g *group) small() bool {
	for _, i := range g.items {
		if i.from > 99 || i.to > 99 || i.from < 0 {
			return false
		}
	}
	return true
}

// plain maps wide digits and signs, and digits of other scripts, to the usual ones, and brackets inside of brackets to
// blanks. It drops what nobody sees.
func plain(r rune) rune {
	switch {
	case strings.ContainsRune(openers+closers, r):
		return ' '
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '　':
		return ' '
	case r == '¹' || r == '²' || r == '³':
		return map[rune]rune{'¹': '1', '²': '2', '³': '3'}[r]
	case r == '⁰' || r >= '⁴' && r <= '⁹':
		return r - '⁰' + '0'
	case r >= '①' && r <= '⑨':
		return r - '①' + '1'
	case unicode.Is(unicode.Cf, r): // a blank of no width hides nothing
		return -1
	case r > unicode.MaxASCII && unicode.IsDigit(r): // "٧": digits of a script stand in a row, from 0
		value := rune(0)
		for value < 9 && unicode.IsDigit(r-value-1) {
			value++
		}
		return '0' + value
	}
	return r
}

// atoi reads digits; what does not fit is a number that no source has.
func atoi(digits string) int {
	n, err := strconv.Atoi(strings.Replace(digits, "−", "-", 1))
	if err != nil || n > maxNumber {
		return maxNumber
	}
	return n
}

const maxNumber = 1 << 30

// link returns the length of the target of a link that a text begins with: "(…)" without blanks, or with a title in
// quotes. Numbers alone are another citation.
func link(text string) int {
	if !strings.HasPrefix(text, "(") {
		return 0
	}
	end := strings.IndexAny(text[:min(len(text), maxLink)], ")\n")
	if end < 2 || text[end] != ')' {
		return 0
	}
	target := text[1:end]
	if i := strings.IndexAny(target, " \t"); i >= 0 && !strings.HasPrefix(strings.TrimSpace(target[i:]), `"`) {
		return 0
	}
	var g group
	if g.read(target, true) {
		return 0
	}
	return end + 1
}
