package agent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/analyze"
)

// text is a question as rules read it: folded, and cut into words.
type text struct {
	question string // as it was asked
	folded   string
	words    []word
}

// word is a run of letters and digits. Scripts without blanks are not cut into words: they are searched as they stand.
type word struct {
	text string // without the s of a plural
	span
}

// span is a part of the folded text, in bytes.
type span struct{ start, end int }

func readText(s string) text {
	t := text{question: s, folded: analyze.Fold(s)}
	start := -1
	end := func(at int) {
		if start >= 0 {
			t.words = append(t.words, word{singular(t.folded[start:at]), span{start, at}})
			start = -1
		}
	}
	for i, r := range t.folded {
		switch {
		case !isWordRune(r):
			end(i)
		case start < 0:
			start = i
		}
	}
	end(len(t.folded))
	return t
}

func isWordRune(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isUnspaced(r) }

// isUnspaced reports whether a script is written without blanks between words.
func isUnspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || unicode.Is(unicode.Thai, r)
}

// singular takes the s of a plural off, so that "tutorials" names what "tutorial" names.
func singular(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// shortestName is how many letters a name must have to be looked for, in scripts with and without blanks.
const shortestName = 2

// find returns where a name stands in the text, as whole words where its script has words.
func (t text) find(name string) []span {
	n := readText(name)
	folded := strings.TrimSpace(n.folded)
	if utf8.RuneCountInString(folded) < shortestName {
		return nil
	}
	if strings.ContainsFunc(folded, isUnspaced) {
		var found []span
		for at := 0; ; {
			i := strings.Index(t.folded[at:], folded)
			if i < 0 {
				return found
			}
			found = append(found, span{at + i, at + i + len(folded)})
			at += i + len(folded)
		}
	}
	var found []span
	for i := 0; len(n.words) > 0 && i+len(n.words) <= len(t.words); i++ {
		same := slices.EqualFunc(n.words, t.words[i:i+len(n.words)], func(a, b word) bool { return a.text == b.text })
		if same {
			found = append(found, span{t.words[i].start, t.words[i+len(n.words)-1].end})
		}
	}
	return found
}

// has reports whether one of the names stands in the text.
func (t text) has(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return len(t.find(n)) > 0 })
}

// before returns the last n words in front of a place, the nearest first.
func (t text) before(at, n int) []string {
	var out []string
	for i := len(t.words) - 1; i >= 0 && len(out) < n; i-- {
		if t.words[i].end <= at {
			out = append(out, t.words[i].text)
		}
	}
	return out
}

// after returns the first n words behind a place.
func (t text) after(at, n int) []string {
	var out []string
	for _, w := range t.words {
		if w.start >= at && len(out) < n {
			out = append(out, w.text)
		}
	}
	return out
}

// runesBefore and runesAfter return what stands next to a place, for scripts without blanks.
func (t text) runesBefore(at, n int) string {
	start := at
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(t.folded[:start])
		start -= size
	}
	return t.folded[start:at]
}

func (t text) runesAfter(at, n int) string {
	end := at
	for ; n > 0 && end < len(t.folded); n-- {
		_, size := utf8.DecodeRuneInString(t.folded[end:])
		end += size
	}
	return t.folded[at:end]
}
