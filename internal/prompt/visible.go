package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Joiners and selectors, which mean something between some characters and hide bits of others everywhere else.
const (
	nonJoiner     = '\u200c'
	joiner        = '\u200d'
	textSelector  = '\ufe0e'
	emojiSelector = '\ufe0f'
)

// Visible is a text without what a model would read and a person not see: control characters, formatting characters (of zero
// width, of direction, soft hyphens, byte order marks, tags), fillers, and selectors of variants. What shows is kept: a
// joiner or non-joiner between two letters of a script that joins its letters, as Persian and Hindi do, or between two
// pictures; and one selector behind a sign, a digit or a Han character. Elsewhere they go, and of several that follow one
// another one is left at most.
func Visible(text string) string {
	if !strings.ContainsFunc(text, suspect) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var before rune // the last character that was kept
	for at, r := range text {
		if suspect(r) {
			next, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(r):])
			if !means(before, r, next) {
				continue
			}
		}
		b.WriteRune(r) // what is no UTF-8 as U+FFFD: its bytes could make a character when what stood between them is gone
		before = r
	}
	return b.String()
}

// suspect reports whether a character shows nothing by itself. Marks in front of Arabic numbers show, though they are
// formatting.
func suspect(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r != '\t' && r != '\n' && r != '\r' && unicode.IsControl(r)
	case r > '\u00ad' && r < '\u034f', r > '\u3164' && r < '\ufe00': // most letters, among them all of Han and Hangul
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r >= 0xE0000 && r <= 0xE0FFF
}

// means reports whether a character that shows nothing changes how its neighbours show.
func means(before, r, next rune) bool {
	switch {
	case r == nonJoiner:
		return joins(before) && joins(next)
	case r == joiner:
		return joins(before) && joins(next) || isPicture(before) && isPicture(next)
	case r == textSelector || r == emojiSelector:
		return isPicture(before) && !unicode.Is(unicode.Variation_Selector, before) || before == '#' || before == '*' || '0' <= before && before <= '9'
	case unicode.Is(unicode.Mongolian, r) && unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Han, before)
	}
	return false
}

// joins reports whether a character is a letter, or a mark on one, of a script whose letters join.
func joins(r rune) bool { return unicode.In(r, unicode.L, unicode.M) && unicode.In(r, joining...) }

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
	unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Sundanese,
}

// isPicture reports whether a character is a picture or part of one: a sign, a tone of skin, or the selector behind a sign.
func isPicture(r rune) bool {
	return r == emojiSelector || r >= 0x2000 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm)
}

// Line is a text of others as it stands in a list or a heading: what shows of it, on one line, at most so many bytes long.
func Line(text string, most int) string {
	text = strings.Join(strings.Fields(Visible(lineEnds.Replace(strings.ToValidUTF8(text, "")))), " ")
	if len(text) <= most {
		return text
	}
	return strings.TrimSpace(mdtext.Cut(text, most)) + "…"
}

// Lines puts "> " before every line of a text. Nothing in it can end the quotation: there is no mark that would.
func Lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(lineEnds.Replace(text), "\n"), "\n") {
		b.WriteString("> " + Visible(line) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// lineEnds are what some program takes for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
