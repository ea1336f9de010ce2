package analyze

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lowerCase returns w in lower case. Unlike strings.ToLower it gives back a word that is in lower case already
// without looking at it twice, which most words are.
func lowerCase(w string) string {
	for i := range len(w) {
		if b := w[i]; b >= utf8.RuneSelf || 'A' <= b && b <= 'Z' {
			return strings.ToLower(w)
		}
	}
	return w
}

// fold takes the accents off a word in lower case. Marks of scripts in which they are letters (Devanagari and its
// relatives) stay. A word of nothing but marks stays as it is: a term is never empty.
func fold(w string) string {
	if isASCII(w) {
		return w
	}
	var b strings.Builder
	marked := false
	for _, r := range norm.NFKD.String(w) {
		switch {
		case unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic, unicode.Cyrillic, unicode.Greek):
			marked = true
		default:
			if spelled := ligatures[r]; spelled != "" {
				b.WriteString(spelled)
				marked = true
			} else {
				b.WriteRune(r)
			}
		}
	}
	if !marked || b.Len() == 0 {
		return w
	}
	return b.String()
}

// ligatures are the letters of lower case that Unicode does not take apart and that are typed otherwise on a
// keyboard without them.
var ligatures = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ς': "σ",
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Fold returns the text as words are compared: compatibility forms, lower case, without accents, straight apostrophes.
func Fold(text string) string { return fold(lowerCase(normalize(text))) }
