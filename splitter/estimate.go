package splitter

import (
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// Estimate counts tokens where no model's tokenizer is at hand: four thirds of a token a word, or one for six bytes if
// that is more, and one for each character of a script written without blanks. The zero value is ready to use.
type Estimate struct{}

var _ rag.TokenCounter = Estimate{}

// firstUnspaced is the first code point of the scripts written without blanks: Thai.
const firstUnspaced = 0x0E00

// The estimate is kept in twelfths of a token, so that it is a whole number until the end.
const (
	perToken    = 12
	perWord     = 16
	perWordByte = 2
)

// CountTokens returns the estimate, rounded up. The estimates of two parts never sum up to less than that of the whole.
func (Estimate) CountTokens(text string) int {
	total, word := 0, 0
	endWord := func() {
		if word > 0 {
			total += max(perWord, perWordByte*word)
		}
		word = 0
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			endWord()
		case r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			endWord()
			total += perToken
		default:
			word += utf8.RuneLen(r)
		}
	}
	endWord()
	return (total + perToken - 1) / perToken
}
