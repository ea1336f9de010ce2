package pdf

import (
	"strings"
	"unicode"
)

// vocabulary is the words of a document, to tell a hyphen that only parts a line's last word from one that is
// part of the word.
type vocabulary struct {
	words map[string]bool // lower case, without punctuation at the ends

	// hangulBlanks tells that lines of Korean that end between words end with a blank in the file, so that those
	// without one end inside a word: Korean is broken at any syllable.
	hangulBlanks bool

	links bool // mark the words of links
}

// blankShare is the part of Korean words before a line's end that have a blank after them from which blanks mean
// something. In files that write none it is 0, in others about half.
const blankShare = 0.1

func newVocabulary(raw *rawDocument) *vocabulary {
	v := &vocabulary{words: map[string]bool{}, links: raw.links}
	ends, blanks := 0, 0
	for _, p := range raw.pages {
		for i, w := range p.words {
			v.words[bare(w.text)] = true
			if i+1 < len(p.words) && unicode.Is(unicode.Hangul, lastRune(w.text)) && p.words[i+1].box.y1 < w.box.centerY() {
				ends++
				if w.blank {
					blanks++
				}
			}
		}
	}
	v.hangulBlanks = float64(blanks) > blankShare*float64(ends)
	return v
}

func bare(s string) string {
	return strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// joint returns what stands between the last word of a line and the first of the next, if no hyphen parts one word.
func (v *vocabulary) joint(last, first word) string {
	a, b := lastRune(last.text), firstRune(first.text)
	switch {
	case isCJK(a) && isCJK(b):
		return ""
	case strings.ContainsRune("-‐‑–—/", a) && len([]rune(last.text)) > 1 && !last.blank:
		return ""
	case v.hangulBlanks && !last.blank && unicode.Is(unicode.Hangul, a) && unicode.Is(unicode.Hangul, b):
		return ""
	}
	return " "
}

// hyphen returns what stands between two parts of a word that a line's end parts: "" or "-". The hyphen stays
// before a digit or a capital, and if the document writes the word with it elsewhere and never without.
func (v *vocabulary) hyphen(a, b string) string {
	if r := firstRune(b); !unicode.IsLower(r) {
		return "-"
	}
	if v.words[bare(a+"-"+b)] && !v.words[bare(a+b)] {
		return "-"
	}
	return ""
}

// addressPart reports what is an address or its beginning: in a link it goes on behind a line's end with nothing added.
func addressPart(s string) bool {
	return strings.Contains(s, "://") || strings.Contains(s, "@") || strings.HasPrefix(s, "www.")
}
