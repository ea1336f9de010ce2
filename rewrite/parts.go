package rewrite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parts returns the parts of a question that are plain to see; none if it asks one thing. They are several questions in a
// row, the sides of a comparison, and questions joined by "and".
func parts(question string) []string {
	if sentences := questions(question); len(sentences) > 1 {
		return completed(sentences)
	}
	for _, p := range comparisons {
		if m := p.FindStringSubmatch(question); m != nil {
			return sides(m[p.SubexpIndex("a")], m[p.SubexpIndex("b")])
		}
	}
	if at := joint.FindStringSubmatchIndex(question); at != nil {
		word := at[2] // where the second question begins
		return completed(meaningful(question[:at[0]], question[word:]))
	}
	return nil
}

// completed gives questions that lean on the first ("and who signs it?") its key words.
func completed(parts []string) []string {
	if len(parts) == 0 {
		return nil
	}
	out := []string{parts[0]}
	for _, part := range parts[1:] {
		terms := distinctTerms(part, keyTerms(parts[0]))
		if pointsBack(part) || len(keyTerms(part)) < 2 { // one word says too little alone
			part = strings.Join(append([]string{part}, terms[:min(len(terms), mostTerms)]...), " ")
		}
		out = append(out, part)
	}
	return out
}

// questions cuts a text behind its question marks, up to one question more than are looked up. What stands behind the last
// mark and asks nothing belongs to no question.
func questions(text string) []string {
	var all []string
	for len(all) <= Most {
		at := strings.IndexAny(text, "?？؟")
		if at < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		all = append(all, text[:at+size])
		text = text[at+size:]
	}
	return meaningful(all...)
}

// comparisons are the ways to ask for a comparison of a with b: English, French, German, Spanish, Chinese. Where a word
// can be a part of what is compared as well, the surer pattern comes first.
var comparisons = compileAll(
	`(?i)\b(?:differences?|distinctions?)\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$`,
	`(?i)\bcompar(?:e|ing)\s+(?P<a>.+?)\s+(?:with|to|against|versus|vs\.?)\s+(?P<b>.+)$`,
	`(?i)\bcompare\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$`,
	`(?i)\bhow\s+(?:does|do|is|are)\s+(?P<a>.+?)\s+(?:differ(?:s|ent)?\s+from|compare\s+(?:to|with))\s+(?P<b>.+)$`,
	`(?i)^(?P<a>.+?)\s+(?:versus|vs\.?)\s+(?P<b>.+)$`,
	`(?i)\bdifférences?\s+entre\s+(?P<a>.+?)\s+et\s+(?P<b>.+)$`,
	`(?i)\bcompar(?:e|er|ez|ons)\s+(?P<a>.+?)\s+(?:avec|et|à)\s+(?P<b>.+)$`,
	`(?i)\bunterschiede?\s+zwischen\s+(?P<a>.+?)\s+und\s+(?P<b>.+)$`,
	`(?i)\bvergleich(?:e|en)?\s+(?P<a>.+?)\s+(?:mit|und)\s+(?P<b>.+)$`,
	`(?i)\bdiferencias?\s+entre\s+(?P<a>.+?)\s+[ye]\s+(?P<b>.+)$`,
	`(?i)\bcompar(?:a|ar|e)\s+(?P<a>.+?)\s+(?:con|y)\s+(?P<b>.+)$`,
	`(?:比较|对比|比較|對比)(?:一下)?(?P<a>.+?)(?:和|与|與|跟)(?P<b>.+)$`,
	`^(?P<a>.+?)(?:和|与|與|跟)(?P<b>.+?)(?:之间|之間)?(?:的|有什么|有何|有什麼|有哪些)+(?:区别|差异|不同|區別|差異)`,
)

// joint is "and" before a word that begins another question, in the same languages.
var joint = regexp.MustCompile(`(?i),?\s+(?:and|et|und|y)\s+((?:what|how|when|where|who|why|which|can|does|quel|quelle|quels|quelles|comment|quand|où|qui|pourquoi|combien|was|wie|wann|wo|wer|warum|welche[rsmn]?|qué|cómo|cuándo|dónde|quién|cuál|cuánto|cuántos|cuántas)\s)`)

func compileAll(patterns ...string) []*regexp.Regexp {
	all := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		all[i] = regexp.MustCompile(p)
	}
	return all
}

// tail is what a comparison says of both sides, behind the second.
var tail = regexp.MustCompile(`(?i)\s+(?:in terms of|with respect to|with regard to|regarding|concerning|en termes de|en ce qui concerne|hinsichtlich|en cuanto a)\s+.+$`)

// prepositions begin the second side of "the notice period of interns and of managers": the first has what both share.
var prepositions = regexp.MustCompile(`(?i)^(?:of|for|in|at|under|with|de|du|des|pour|von|für|para)\s`)

// sides makes the two sides of a comparison complete: what only one of them says of both is given to the other too.
func sides(a, b string) []string {
	b = strings.TrimRight(b, " ?？.!。")
	if t := tail.FindString(b); t != "" && !tail.MatchString(a) {
		a += t
	}
	if at := strings.Index(b, "的"); at > 0 && !strings.Contains(a, "的") { // 年假和病假的天数: the number of both
		a += b[at:]
	}
	if p := prepositions.FindString(b); p != "" {
		same := regexp.MustCompile(`(?i)\s` + regexp.QuoteMeta(p)) // not by ToLower, which may give a text another length
		if all := same.FindAllStringIndex(a, -1); all != nil {
			b = a[:all[len(all)-1][0]+1] + b
		}
	}
	return meaningful(a, b)
}

// meaningful trims texts and returns them, or nothing if one of them is no more than signs.
func meaningful(texts ...string) []string {
	var all []string
	for _, text := range texts {
		text = strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;，；、", r) })
		if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return nil
		}
		all = append(all, text)
	}
	return all
}
