package pdf

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// box is a rectangle in points, origin at the lower left: x0 < x1, y0 < y1.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) height() float64  { return b.y1 - b.y0 }
func (b box) width() float64   { return b.x1 - b.x0 }
func (b box) centerY() float64 { return (b.y0 + b.y1) / 2 }
func (b box) centerX() float64 { return (b.x0 + b.x1) / 2 }

func (b box) union(c box) box {
	return box{min(b.x0, c.x0), min(b.y0, c.y0), max(b.x1, c.x1), max(b.y1, c.y1)}
}

// overlapY is the height that two boxes have in common; negative if they are apart.
func (b box) overlapY(c box) float64 { return min(b.y1, c.y1) - max(b.y0, c.y0) }

// word is a run of characters without a blank, on one line.
type word struct {
	text   string
	box    box     // in a frame turned so that the text runs to the right
	size   float64 // rendered font size in points
	bold   bool
	turn   int  // quarter turns, counter-clockwise, from the page's x axis to the direction of the text
	seq    int  // place in drawing order; equal neighbours are seq and seq+1
	hyphen bool // the word was cut by a hyphen at the line's end
	blank  bool // a blank follows in the file
	char   int  // place of the first character on the page
	table  *table
	link   int // which of the page's links the word is part of, from 1; 0: of none
}

// lineHyphen are the characters PDFium puts for a hyphen at the end of a line, with the rest of the word following
// at once.
func lineHyphen(r rune) bool { return r == 0x02 || r == 0xFFFE || r == 0xAD }

func isBreak(r rune) bool { return r <= ' ' || unicode.IsSpace(r) || lineHyphen(r) }

// boldWeight is the font weight from which text counts as bold; LaTeX's bold fonts are measured at 700, regular 425.
const boldWeight = 600

// symbolName is how names of fonts look that draw a bullet for a letter.
var symbolName = regexp.MustCompile(`(?i)dingbat|wingding|webding`)

// boldName is how names of bold fonts look: Arial-BoldMT, Gotham-Black, CMBX12.
var boldName = regexp.MustCompile(`(?i)bold|black|heavy|demi|CMBX`)

// textPage reads characters of one page by index.
type textPage struct {
	p    instance
	page references.FPDF_TEXTPAGE
	text []rune
	same bool // whether the index in text is the character index

	links []link
}

// readWords returns the words of a page in drawing order.
func readWords(p instance, page requests.Page, links []link) ([]word, error) {
	text, err := p.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	defer p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	count, err := p.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil || count.Count == 0 {
		return nil, err
	}
	all, err := p.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: count.Count})
	if err != nil {
		return nil, err
	}
	runes := []rune(strings.TrimSuffix(all.Text, "\x00"))
	return (&textPage{p: p, page: text.TextPage, text: runes, same: len(runes) == count.Count, links: links}).words(), nil
}

// words cuts the text at blanks and line hyphens and measures each word by its first and last character.
func (t *textPage) words() []word {
	var out []word
	line := 0 // where the current line begins in out
	turn := 0 // direction of the last word
	newLine := true
	for i := 0; i < len(t.text); {
		if isBreak(t.text[i]) {
			newLine = newLine || t.text[i] == '\n' || lineHyphen(t.text[i])
			i++
			continue
		}
		j := i + 1
		for j < len(t.text) && !isBreak(t.text[j]) {
			j++
		}
		first, ok := t.charBox(i)
		if !ok {
			i = j
			continue
		}
		if newLine {
			j = t.noteNumber(i, j, first)
		}
		if newLine {
			t.dress(out[line:])
			line, newLine = len(out), false
			turn = (4 - t.angle(i)) % 4
		}
		for _, w := range t.place(i, j, first, turn) {
			w.seq = len(out)
			turn = w.turn
			out = append(out, w)
		}
		if n := len(out); n > line && j < len(t.text) {
			out[n-1].hyphen = lineHyphen(t.text[j])
			out[n-1].blank = t.text[j] == ' '
		}
		i = j
	}
	t.dress(out[line:])
	return out
}

// noteNumber returns where the number of a footnote ends that a line begins with: smaller figures right before a letter,
// which the engine takes for one word with what follows. Without one it returns the run's end.
func (t *textPage) noteNumber(i, end int, first box) int {
	k := i
	for k < end && unicode.IsDigit(t.text[k]) {
		k++
	}
	if k == i || k == end || !unicode.IsLetter(t.text[k]) {
		return end
	}
	if letter, ok := t.charBox(k); ok && first.height() < noteHeight*letter.height() {
		return k
	}
	return end
}

// noteHeight is how high the number of a footnote is at most, in heights of the text.
const noteHeight = 0.8

// dress sets size and weight of a line's words. Most lines have one look, so only the ends are asked, and the words
// between where the ends or the heights of the boxes differ.
func (t *textPage) dress(line []word) {
	if len(line) == 0 {
		return
	}
	first, last := t.look(line[0].char), t.look(line[len(line)-1].char)
	even := first == last
	for i := range line {
		w := &line[i]
		if even && math.Abs(w.box.height()-line[0].box.height()) <= sizeStep*line[0].box.height() {
			w.size, w.bold = first.size, first.bold
			continue
		}
		l := t.look(w.char)
		w.size, w.bold = l.size, l.bold
		if i == 0 && l.symbol && len([]rune(w.text)) == 1 {
			w.text = "•"
		}
	}
}

// place returns the characters [i, j) as one word, or as several if they wrap over lines without a blank between.
func (t *textPage) place(i, j int, first box, turn int) []word {
	text := cleanText(string(t.text[i:j]))
	if text == "" {
		return nil
	}
	if isRTL(text) {
		text = cleanText(t.unfolded(i, j))
	}
	last := first
	if j-i > 1 {
		if b, ok := t.charBox(j - 1); ok {
			last = b
		}
	}
	if whole := first.union(last); whole.width() > spread*float64(j-i)*whole.height() && t.angle(i)%2 == 0 {
		return t.pieces(i, j) // characters that lie on their side are wide
	}
	dx, dy := last.centerX()-first.centerX(), last.centerY()-first.centerY()
	upright := math.Abs(dy) < max(first.height(), last.height())/2 // both on one line
	switch {
	case j-i == 1:
		// One character shows no direction: it has that of the words before it.
	case upright && dx > 0 && isRTL(text):
		text, turn = reversed(text), 0 // the file has the letters as they stand, not as they are read
	case upright && dx >= 0, upright && isRTL(text):
		turn = 0
	default:
		angle := t.angle(i)
		switch {
		case angle == 0 && upright:
			turn = 0
		case angle == 2:
			turn = 2
		case math.Abs(dx) < first.width() && dy > 0:
			turn = 1
		case math.Abs(dx) < first.width():
			turn = 3
		default:
			return t.pieces(i, j)
		}
	}
	whole := first.union(last)
	return []word{{text: text, box: whole.turned(turn), turn: turn, char: i, link: linkAt(t.links, whole)}}
}

// unfolded returns the characters [i, j) of a script that runs to the left with those of one glyph in order: the engine,
// which turns such runs around, turns the letters of a ligature as well. They have one box.
func (t *textPage) unfolded(i, j int) string {
	rs := slices.Clone(t.text[i:j])
	for start := 0; start < len(rs); {
		glyph, ok := t.charBox(i + start)
		end := start + 1
		for ; ok && end < len(rs); end++ {
			if b, known := t.charBox(i + end); !known || b != glyph {
				break
			}
		}
		slices.Reverse(rs[start:end])
		start = end
	}
	return string(rs)
}

// Limits of a run of characters, in heights of its boxes.
const (
	spread   = 1.1 // a run wider than this for each character has gaps inside
	pieceGap = 0.6 // a gap this wide parts words
)

// pieces splits a run of characters where it jumps to another line or over a gap: Chinese has no blank that would do
// it, and the engine sets none between cells it takes for one word.
func (t *textPage) pieces(i, j int) []word {
	var out []word
	for start := i; start < j; {
		b, ok := t.charBox(start)
		end := start + 1
		for ok && end < j {
			c, known := t.charBox(end)
			if known && (math.Abs(c.centerY()-b.centerY()) > b.height()/2 || c.x0-b.x1 > pieceGap*b.height()) {
				break
			}
			if known {
				b = b.union(c)
			}
			end++
		}
		if text := cleanText(string(t.text[start:end])); ok && text != "" {
			out = append(out, word{text: text, box: b, char: start, link: linkAt(t.links, b)})
		}
		start = end
	}
	return out
}

// turned maps a box on the page into the frame in which text of this direction runs to the right.
func (b box) turned(turn int) box {
	switch turn {
	case 1:
		return box{b.y0, -b.x1, b.y1, -b.x0}
	case 2:
		return box{-b.x1, -b.y1, -b.x0, -b.y0}
	case 3:
		return box{-b.y1, b.x0, -b.y0, b.x1}
	}
	return b
}

// index is the character index of a place in text.
func (t *textPage) index(i int) int {
	if t.same {
		return i
	}
	res, err := t.p.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: t.page, NTextIndex: i})
	if err != nil || res.CharIndex < 0 {
		return i
	}
	return res.CharIndex
}

// charBox is the box of a character as high as its font, so that the characters of a line have like boxes.
func (t *textPage) charBox(i int) (box, bool) {
	res, err := t.p.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: t.page, Index: t.index(i)})
	if err != nil {
		return box{}, false
	}
	r := res.Rect
	b := box{
		float64(min(r.Left, r.Right)), float64(min(r.Bottom, r.Top)),
		float64(max(r.Left, r.Right)), float64(max(r.Bottom, r.Top)),
	}
	return b, !math.IsNaN(b.x0+b.y0+b.x1+b.y1) && !math.IsInf(b.x0+b.y0+b.x1+b.y1, 0)
}

// look returns the size and weight of a character. The nominal size is 1 in files that scale by the text matrix, so
// both count. Fonts that state no weight have it in their names.
func (t *textPage) look(i int) look {
	var l look
	index := t.index(i)
	if s, err := t.p.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: t.page, Index: index}); err == nil {
		l.size = s.FontSize
	}
	if m, err := t.p.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: t.page, Index: index}); err == nil {
		l.size *= math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
	}
	if f, err := t.p.FPDFText_GetFontWeight(&requests.FPDFText_GetFontWeight{TextPage: t.page, Index: index}); err == nil {
		l.bold = f.FontWeight >= boldWeight
	}
	if l.bold {
		return l
	}
	if f, err := t.p.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: t.page, Index: index}); err == nil {
		l.bold, l.symbol = boldName.MatchString(f.FontName), symbolName.MatchString(f.FontName)
	}
	return l
}

// angle is how far a character is turned clockwise, in quarter turns.
func (t *textPage) angle(i int) int {
	res, err := t.p.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: t.page, Index: t.index(i)})
	if err != nil {
		return 0
	}
	return ((int(math.Round(float64(res.CharAngle)/(math.Pi/2))) % 4) + 4) % 4
}
