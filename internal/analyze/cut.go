package analyze

import (
	"unicode"
	"unicode/utf8"
)

// sink receives the pieces of a text.
type sink interface {
	word(w string, extra bool)    // a word of letters and digits, as written, not empty
	literal(w string, extra bool) // a form that has no stem: an identifier, a number
	run(run string, n int)        // a run of a script without blanks, to be taken as n-grams
}

// class says how runes are grouped.
type class int

const (
	separator class = iota
	letter          // of a script that puts blanks between words; digits and marks too
	cjk             // Han, kana, Hangul: bigrams
	unspaced        // Thai and other scripts without blanks and with long words: trigrams
)

// Lengths of the n-grams. Two characters are the commonest length of a Chinese word; a Thai syllable has about three.
const (
	cjkGram      = 2
	unspacedGram = 3
)

// cut hands the pieces of a normalised text to s, in order.
func cut(text string, s sink) {
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		switch c {
		case separator:
			i += size
		case letter:
			end := tokenEnd(text, i)
			token(text[i:end], s)
			i = end
		default:
			end := runEnd(text, i, c)
			n := cjkGram
			if c == unspaced {
				n = unspacedGram
			}
			s.run(text[i:end], n)
			i = end
		}
	}
}

// runEnd returns where the runes of the class that start at i end.
func runEnd(text string, i int, want class) int {
	for i < len(text) {
		c, size := classAt(text, i)
		if c != want {
			break
		}
		i += size
	}
	return i
}

// tokenEnd returns where the token that starts at i ends: words with single connectors between them, and a final
// ++ or # as in C++ and C#.
func tokenEnd(text string, i int) int {
	for {
		i = runEnd(text, i, letter)
		if i+1 < len(text) && isConnector(text[i]) {
			if c, _ := classAt(text, i+1); c == letter {
				i++
				continue
			}
		}
		return i + len(codeSuffix(text[i:]))
	}
}

// codeSuffix returns the "++" or "#" at the start of the text if no word follows it.
func codeSuffix(text string) string {
	for _, suffix := range [...]string{"++", "#"} {
		if len(text) >= len(suffix) && text[:len(suffix)] == suffix {
			if c, _ := classAt(text, len(suffix)); c == separator {
				return suffix
			}
		}
	}
	return ""
}

func isConnector(b byte) bool {
	switch b {
	case '_', '.', '-', '\'', ',':
		return true
	}
	return false
}

// classAt returns the class and the size in bytes of the rune at i; the end of the text is a separator.
func classAt(text string, i int) (class, int) {
	if i >= len(text) {
		return separator, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return classOf(r), size
}

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for b := range t {
		if unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)) {
			t[b] = letter
		}
	}
	return t
}()

// prolongedSound is the kana length mark, which Unicode gives to no one script.
const prolongedSound = 'ー'

func classOf(r rune) class {
	switch {
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return separator
	case r == prolongedSound, unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return cjk
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		return unspaced
	}
	return letter
}

// grams calls emit for every n runes in a row, or for the whole run if it is shorter.
func grams(run string, n int, emit func(string)) {
	end, have := 0, 0
	for have < n && end < len(run) {
		end += firstRune(run[end:])
		have++
	}
	for start := 0; ; {
		emit(run[start:end])
		if end == len(run) {
			return
		}
		start += firstRune(run[start:])
		end += firstRune(run[end:])
	}
}

// firstRune returns the size in bytes of the first rune.
func firstRune(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
