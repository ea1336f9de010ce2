package splitter

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// graphemeRun is the most bytes of a word that make one unit when the word is cut: single characters would be many
// units, and a tokenizer counts more for each alone than for several together.
const graphemeRun = 64

// runLength returns the length of the first piece of a word: of the ends of graphemes in the first bytes, at most so
// many, the one with the greatest hash behind it. Which graphemes a piece ends at depends on the text around it, not
// on where the word begins: an end whose hash is greater than all others as near as that is always taken, so that
// pieces behind an edit soon are those of before. A rest that short is one piece, and so is a longer grapheme.
func runLength(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	best, greatest := 0, uint64(0)
	for end := graphemeLength(s); end <= most; end += graphemeLength(s[end:]) {
		if h := hashStart(s[end:]); h >= greatest {
			best, greatest = end, h
		}
	}
	if best == 0 {
		return graphemeLength(s)
	}
	return best
}

// graphemeLength returns the length of the first grapheme of s, which is not empty.
func graphemeLength(s string) int {
	if len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf && s[0] != '\r' {
		return 1
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}
