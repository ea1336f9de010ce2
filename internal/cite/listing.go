package cite

import (
	"regexp"
	"strings"
	"unicode"
)

// Listed tells of each citation of a cleaned text whether it only stands in a list of sources that a model put behind its
// answer: on a line that begins with it, or with a word for sources, and otherwise has no words but those of the names of
// sources, behind a statement that cites the same source. What says more, or names a source that nothing cites, is a claim.
func Listed(text string, markers []Marker, names []string) []bool {
	known := map[string]bool{}
	for _, name := range names {
		for _, w := range nameWords(name) {
			known[w] = true
		}
	}
	listed, stated := make([]bool, len(markers)), map[int]bool{}
	for i, m := range markers {
		start := strings.LastIndexByte(text[:m.Start], '\n') + 1
		end := len(text)
		if n := strings.IndexByte(text[m.End:], '\n'); n >= 0 {
			end = m.End + n
		}
		if isEntry(text[start:end], known) {
			listed[i] = stated[m.Number]
		} else {
			stated[m.Number] = true
		}
	}
	return listed
}

// entryIndent is what a line of a list may have in front of its citation.
var entryIndent = regexp.MustCompile(`^[\s*_#>•–-]*(?:\d{1,2}[.)]\s+)?[*_]*`)

// listLabels stand in front of a list of sources.
var listLabels = map[string]bool{
	"source": true, "sources": true, "reference": true, "references": true, "citation": true, "citations": true,
	"référence": true, "références": true, "quelle": true, "quellen": true, "fuente": true, "fuentes": true, "fonte": true, "fonti": true,
	"来源": true, "资料来源": true, "参考": true, "参考资料": true, "出典": true,
}

// pageWords stand in front of the number of a page or section.
var pageWords = map[string]bool{"p": true, "pp": true, "page": true, "pages": true, "seite": true, "página": true, "section": true, "sections": true, "abschnitt": true}

func isEntry(line string, known map[string]bool) bool {
	line = line[len(entryIndent.FindString(line)):]
	words := nameWords(Strip(line))
	if !strings.HasPrefix(line, "[") {
		if len(words) == 0 || !listLabels[words[0]] {
			return false
		}
		words = words[1:]
	}
	before := ""
	for _, w := range words {
		page := pageWords[w] || pageWords[before] && strings.Trim(w, "0123456789") == ""
		if !known[w] && !page {
			return false
		}
		before = w
	}
	return true
}

// nameWords are the words of the name of a source, in small letters.
func nameWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
}
