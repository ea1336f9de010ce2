package splitter

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// class is the strength of the boundary before a unit: where a cut has to be made, the strongest one is taken.
type class uint8

const (
	byGlue      class = iota // the two sides belong together: the last resort
	byGrapheme               // inside a word that is too long alone
	byWord                   // inside a sentence or line that is too long alone
	byRow                    // between lines of a fence, or rows of a table, that is too long alone
	bySentence               // between sentences of a paragraph
	byLine                   // between list items, or lines that end a sentence
	byParagraph              // at a blank line
	byPage                   // where a page begins
	byBorder                 // always cut: a heading, or a wide gap
)

// unit is a stretch of text that is not cut.
type unit struct {
	start, end int    // byte offsets; the text begins and ends with a character that is not blank
	weight     int    // tokens, with the blank space behind it
	hash       uint64 // of the text: decides between boundaries of equal strength
	before     class  // strength of the boundary before the unit
	level      int    // of a heading; 0 for every other unit
	sentence   bool   // a whole sentence of prose: may be repeated as overlap
	fragment   bool   // a word, or a part of one, of a line or sentence that is too long alone
}

// Bounds that keep a chunk's Text small where a tokenizer counts next to nothing: WordPiece takes a word of more than
// a hundred characters for one unknown token, and blank space for none.
const (
	bytesPerToken = 16  // text of more bytes a token is weighed by its bytes
	widestGap     = 256 // more bytes of blank space end a chunk
)

// builder makes units of blocks.
type builder struct {
	text   string
	tokens rag.TokenCounter
	max    int // tokens that a unit may have
	units  []unit
}

// addBlock appends the units of a block.
func (b *builder) addBlock(bl block) {
	first := len(b.units)
	switch bl.kind {
	case paragraph, item:
		if bl.kind == paragraph && isSignature(strings.TrimSpace(b.text[bl.start:bl.end])) {
			b.add(bl.start, bl.end, byRow, stepWords, false) // "value=0.) → Tensor" ends no sentence
			break
		}
		pos := bl.start
		for _, s := range sentences(b.text[bl.start:bl.end]) {
			b.add(pos, pos+s.length, s.before, stepLines, true)
			pos += s.length
		}
	default:
		b.add(bl.start, bl.end, byRow, stepLines, false)
		if bl.kind == table {
			b.glueTableHead(first)
		}
	}
	if first == len(b.units) {
		return
	}
	b.units[first].before = bl.before
	if bl.kind == heading {
		b.units[first].before = byBorder
		for i := first; i < len(b.units); i++ {
			b.units[i].level = bl.level
		}
	}
}

// glueTableHead keeps the header, the line under it and the first row of a table cut at rows together.
func (b *builder) glueTableHead(first int) {
	for i := first + 1; i < len(b.units) && i <= first+2; i++ {
		b.units[i].before = byGlue
	}
}

// The steps in which text that is too long for one unit is cut.
type step int

const (
	stepLines step = iota
	stepSentences
	stepWords
	stepGraphemes
	stepNone
)

// add appends text[start:end] as one unit if it fits, or as the pieces of the first step that divides it.
func (b *builder) add(start, end int, before class, next step, sentence bool) {
	start, end = trim(b.text, start, end)
	if start == end {
		return
	}
	weight := b.weigh(start, end)
	if weight <= b.max || next == stepNone {
		b.units = append(b.units, unit{start: start, end: end, weight: weight, before: before, sentence: sentence, fragment: next > stepWords})
		return
	}
	lengths, inner := b.divide(start, end, next)
	for _, n := range lengths {
		b.add(start, start+n, before, next+1, false)
		start += n
		before = inner
	}
}

// divide returns the lengths of the pieces that a step makes of text[start:end], and the class of the cuts between them.
func (b *builder) divide(start, end int, by step) ([]int, class) {
	text := b.text[start:end]
	switch by {
	case stepLines:
		return pieces(text, func(s string) int { return strings.IndexByte(s, '\n') + 1 }), byRow
	case stepSentences:
		var lengths []int
		for _, s := range sentences(text) {
			lengths = append(lengths, s.length)
		}
		return lengths, bySentence
	case stepWords:
		return pieces(text, wordLength), byWord
	}
	most := max(1, min(graphemeRun, b.max/2))
	return pieces(text, func(s string) int { return runLength(s, most) }), byGrapheme
}

// pieces cuts text into pieces; length gives the length of the first piece of a text, 0 for all of it.
func pieces(text string, length func(string) int) []int {
	var all []int
	for len(text) > 0 {
		n := length(text)
		if n <= 0 {
			n = len(text)
		}
		all = append(all, n)
		text = text[n:]
	}
	return all
}

// wordLength returns the length of the first word with the blank space before and behind it.
func wordLength(s string) int {
	from := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	gap := strings.IndexFunc(s[from:], unicode.IsSpace)
	if gap < 0 {
		return len(s)
	}
	behind := s[from+gap:]
	return from + gap + len(behind) - len(strings.TrimLeftFunc(behind, unicode.IsSpace))
}

// weigh returns the tokens of text[start:end] with the blank space behind it, so that the weights of neighbours sum
// up to a bound of the tokens of both.
func (b *builder) weigh(start, end int) int {
	behind := end
	for behind < len(b.text) && behind-end <= widestGap {
		r, n := utf8.DecodeRuneInString(b.text[behind:])
		if !unicode.IsSpace(r) {
			break
		}
		behind += n
	}
	return max(b.tokens.CountTokens(b.text[start:behind]), (end-start)/bytesPerToken)
}

// markPages strengthens the boundaries at which a page begins.
func (b *builder) markPages(pages []int) {
	for _, p := range pages {
		i := sort.Search(len(b.units), func(i int) bool { return b.units[i].start >= p })
		if i < len(b.units) && (i == 0 || b.units[i-1].end <= p) {
			b.units[i].before = max(b.units[i].before, byPage)
		}
	}
}

// finish hashes the units and cuts at wide gaps.
func (b *builder) finish() {
	for i := range b.units {
		u := &b.units[i]
		if u.fragment {
			u.hash = hashStart(b.text[u.start:])
		} else {
			u.hash = rank(b.text, u.start, u.end)
		}
		if i == 0 || u.start-b.units[i-1].end > widestGap {
			u.before = byBorder
		}
	}
}

// trim narrows [start, end) to what lies between blank space.
func trim(text string, start, end int) (int, int) {
	s := strings.TrimRightFunc(text[start:end], unicode.IsSpace)
	end = start + len(s)
	return end - len(strings.TrimLeftFunc(s, unicode.IsSpace)), end
}
