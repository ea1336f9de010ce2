package analyze

import (
	"unicode"
	"unicode/utf8"
)

// sink receives the pieces of a text, each with its place: words are counted, and in scripts without blanks characters.
type sink interface {
	start()                               // the next token or run begins
	word(w string, at int, extra bool)    // a word of letters and digits, as written, not empty
	literal(w string, at int, extra bool) // a form that has no stem: an identifier, a number
	run(run string, at int, c class)      // a run of a script without blanks
}

// class says how runes are grouped.
type class int

const (
	separator class = iota
	letter          // of a script that puts blanks between words; digits and marks too
	cjk             // Han, kana, Hangul: bigrams
	unspaced        // Thai and other scripts without blanks and with long words: trigrams
)

// cut hands the pieces of a normalised text to s, in order, and returns the place behind the last.
func cut(text string, at int, s sink) int {
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		switch c {
		case separator:
			i += size
		case letter:
			end := tokenEnd(text, i)
			s.start()
			at = token(text[i:end], at, s)
			i = end
		default:
			end := runEnd(text, i, c)
			s.start()
			s.run(text[i:end], at, c)
			at += utf8.RuneCountInString(text[i:end])
			i = end
		}
	}
	return at
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
