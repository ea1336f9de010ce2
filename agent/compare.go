package agent

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag/internal/analyze"
)

// comparisons are the forms in which two things are compared, with the two things as groups a and b. They are matched with
// the folded question, which has no accents, and without the marks at its end. English, French, German, Spanish, Chinese.
var comparisons = []*regexp.Regexp{
	regexp.MustCompile(`\bdifferen(?:ce|ces|t) (?:is there |are there )?between (?P<a>.+?) (?:and|vs\.?|versus) (?P<b>.+)`),
	regexp.MustCompile(`\bchanged? (?:\S+ ){0,4}?between (?P<a>.+?) and (?P<b>.+)`),
	regexp.MustCompile(`\bcompar(?:e|ing|ison) (?:of |between |me )?(?P<a>.+?) (?:and|with|to|vs\.?|versus|against) (?P<b>.+)`),
	regexp.MustCompile(`\bhow (?:does|do|is|are) (?P<a>.+?) (?:differ|different) (?:from|to|than) (?P<b>.+)`),
	regexp.MustCompile(`(?P<a>.+?),? compared (?:with|to) (?P<b>.+)`),
	regexp.MustCompile(`(?P<a>.+?) (?:vs\.?|versus) (?P<b>.+)`),
	regexp.MustCompile(`\bwhich (?:one )?is (?:\S+ )?(?:better|worse|faster|cheaper|safer|easier)\S*[:,]? (?P<a>.+?) or (?P<b>.+)`),
	regexp.MustCompile(`^(?P<a>.+?) or (?P<b>[^,:;]+)[,:;]? (?:which|what) (?:one )?.+`),

	regexp.MustCompile(`\bdifferences? (?:y a t il )?entre (?P<a>.+?) et (?P<b>.+)`),
	regexp.MustCompile(`\bcompar(?:e|er|ez|aison|ons) (?:de |entre )?(?P<a>.+?) (?:et|a|avec) (?P<b>.+)`),
	regexp.MustCompile(`\ben quoi (?P<a>.+?) (?:differe|differ|est il different|est elle differente|se distingue)\S* (?:de |du |d')(?P<b>.+)`),
	regexp.MustCompile(`^(?P<a>.+?) ou (?P<b>[^,:;]+)[,:;]? (?:lequel|laquelle|lesquel|quel|quelle|qui|que choisir)\b.*`),

	regexp.MustCompile(`\bunterschiede? (?:gibt es )?zwischen (?P<a>.+?) und (?P<b>.+)`),
	regexp.MustCompile(`\bvergleich(?:e|en|st)? (?:von |zwischen )?(?P<a>.+?) (?:und|mit) (?P<b>.+)`),
	regexp.MustCompile(`\bdiferencias? (?:hay )?entre (?P<a>.+?) y (?P<b>.+)`),
	regexp.MustCompile(`\bcompar(?:a|ar|acion) (?:de |entre )?(?P<a>.+?) (?:y|con) (?P<b>.+)`),

	regexp.MustCompile(`比较(?:一下)?(?P<a>.+?)(?:和|与|跟|及|同)(?P<b>.+)`),
	regexp.MustCompile(`(?:请问)?(?P<a>.+?)(?:和|与|跟|同)(?P<b>.+?)(?:之间|相比|比较|比起来)?(?:到底)?(?:有|是)?(?:什么|哪些|何|啥)?(?:的)?(?:区别|不同|差别|差异|异同)`),
	regexp.MustCompile(`(?P<a>.+?)(?:和|与|跟)(?P<b>.+?)(?:哪个|哪一个|谁)(?:更|比较).+`),
	regexp.MustCompile(`(?P<a>.+?)(?:还是)(?P<b>.+?)(?:更|比较)?(?:好|快|便宜|合适).*`),
}

// longestSide is how many bytes a side of a comparison has at most: beyond that the pattern caught something else.
const longestSide = 200

// sides returns the two things that a question compares, as they are written; ok is false if it compares nothing.
func sides(question string) (a, b string, ok bool) {
	question = strings.TrimRight(strings.Join(strings.Fields(question), " "), " .?!。？！")
	folded := analyze.Fold(question)
	for _, form := range comparisons {
		m := form.FindStringSubmatchIndex(folded)
		if m == nil {
			continue
		}
		i, j := 2*form.SubexpIndex("a"), 2*form.SubexpIndex("b")
		a, b = asWritten(question, folded, m[i], m[i+1]), asWritten(question, folded, m[j], m[j+1])
		if a != "" && b != "" && a != b && len(a) <= longestSide && len(b) <= longestSide {
			return a, b, true
		}
	}
	return "", "", false
}

// asWritten returns a part of the folded question as the question has it, where folding kept the number of characters.
func asWritten(question, folded string, start, end int) string {
	runes := []rune(norm.NFC.String(question))
	if len(runes) != utf8.RuneCountInString(folded) {
		return trimSide(folded[start:end])
	}
	first := utf8.RuneCountInString(folded[:start])
	return trimSide(string(runes[first : first+utf8.RuneCountInString(folded[start:end])]))
}

func trimSide(s string) string { return strings.Trim(s, " ,;:.\"'“”«»，；：、") }

// subQueries are the searches of a comparison: one for each side, each whole. What one side leaves to the other is filled
// in: the number that stands for the rest ("the 2024 and the 2026 leave policy"), the head before a preposition ("the fee
// of A and of B").
func subQueries(a, b string) []string {
	if number := leadingNumber.FindStringSubmatch(a); number != nil {
		if other := anyNumber.FindString(b); other != "" && other != number[1] {
			a = strings.Replace(b, other, number[1], 1)
		}
	}
	if prep := leadingPreposition.FindString(b); prep != "" {
		if at := strings.Index(a, " "+prep); at > 0 {
			b = a[:at] + " " + b
		}
	}
	return []string{a, b}
}

var (
	leadingNumber      = regexp.MustCompile(`(?i)^(?:the |le |la |les |die |das |el )?(\d[\d.]*)年?\s*$`)
	anyNumber          = regexp.MustCompile(`\d[\d.]*`)
	leadingPreposition = regexp.MustCompile(`(?i)^(?:of|in|for|at|under|de|du|des|pour|dans|von|bei|fur|para|en) `)
)
