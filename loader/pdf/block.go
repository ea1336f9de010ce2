package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// block is a paragraph, a list item, a heading or a table.
type block struct {
	text  string // of a table: Markdown
	box   box    // where it stands, in the frame of its words
	turn  int    // of its words
	item  bool   // of a list
	tight bool   // an item right below the one before
	size  float64
	bold  bool
	rows  int
	table bool
	level int // of a heading; 0 for text

	linked  string   // text with its links; "" if it has none
	picture *picture // in place of text
}

// Limits of paragraphs. Distances are between the middles of lines.
const (
	paragraphGap = 1.35 // a distance this many times the usual one begins a paragraph
	sizeStep     = 0.08 // sizes that differ by a smaller part are one size
	indent       = 0.8  // first-line indent, in font sizes
	lineRoom     = 1.0  // a line is broken on purpose if the next word and this much more would fit, in font sizes
	fewRows      = 4    // fewer lines do not tell their usual distance, a count
	leastPitch   = 1.1  // distance of lines set tight, for a heading of several lines among text of a smaller size
	leastBullets = 3    // lines that begin with one letter, for the letter to be a bullet, a count
	usualPitch   = 1.3  // distance of lines where nothing tells, in font sizes
)

// blocksOf joins the lines of a region into paragraphs and tables, from top to bottom.
func blocksOf(words []word, v *vocabulary) []block {
	tables := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.table == nil })
	if len(tables) == 0 {
		return textBlocks(words, v)
	}
	slices.SortStableFunc(tables, func(a, b word) int { return cmp.Compare(b.box.centerY(), a.box.centerY()) })
	rest := texts(words)
	var out []block
	for _, t := range tables {
		var above, below []word
		for _, w := range rest {
			if w.box.centerY() > t.box.centerY() {
				above = append(above, w)
			} else {
				below = append(below, w)
			}
		}
		out = append(append(out, textBlocks(above, v)...), t.table.blocks(v)...)
		rest = below
	}
	return append(out, textBlocks(rest, v)...)
}

// texts are the words that stand for no table.
func texts(words []word) []word {
	if !slices.ContainsFunc(words, func(w word) bool { return w.table != nil }) {
		return words
	}
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.table != nil })
}

// textBlocks joins lines into paragraphs and tables without rules.
func textBlocks(words []word, v *vocabulary) []block {
	if len(words) == 0 {
		return nil
	}
	rows := rowsOf(words)
	letterBullets(rows)
	pitch := usualDistance(rows)
	tables := tableRows(rows, pitch)
	var out []block
	for i := 0; i < len(rows); {
		j := i + 1
		if tables[i] > 0 {
			for j < len(rows) && tables[j] == tables[i] {
				j++
			}
			out = append(out, tableBlock(rows[i:j], v))
		} else {
			for j < len(rows) && tables[j] == 0 && sameBlock(rows[j-1], rows[j], pitch) {
				j++
			}
			out = append(out, paragraphs(rows[i:j], v)...)
		}
		i = j
	}
	return out
}

// letterBullets finds bullets of fonts that draw them for a letter: the same letter stands alone at the beginning of
// several lines, at one place, and it is no word.
func letterBullets(rows []row) {
	type mark struct {
		letter string
		x      float64
	}
	at := func(r *row) mark { return mark{r.words[0].text, roundSize(r.words[0].box.x0)} }
	count := map[mark]int{}
	for i := range rows {
		if w := rows[i].words[0].text; len(rows[i].words) > 1 && len(w) == 1 && strings.Contains("lnoqrux", w) {
			count[at(&rows[i])]++
		}
	}
	for i := range rows {
		if count[at(&rows[i])] >= leastBullets {
			rows[i].words[0].text = "•"
		}
	}
}

// boxOf is the box around lines.
func boxOf(rows []row) box {
	b := rows[0].box
	for _, r := range rows[1:] {
		b = b.union(r.box)
	}
	return b
}

// usualDistance is the median distance of neighbouring lines.
func usualDistance(rows []row) float64 {
	var ds []float64
	for i := 1; i < len(rows); i++ {
		ds = append(ds, rows[i-1].box.centerY()-rows[i].box.centerY())
	}
	if len(rows) < fewRows {
		return usualPitch * rows[0].size
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// sameBlock reports whether b goes on under a: near, of one size and weight.
func sameBlock(a, b row, pitch float64) bool {
	return a.box.centerY()-b.box.centerY() <= paragraphGap*max(pitch, leastPitch*min(a.size, b.size)) &&
		math.Abs(a.size-b.size) <= sizeStep*max(a.size, b.size) && a.bold == b.bold
}

// paragraphs splits lines of one look where a line was ended on purpose, and joins the rest.
func paragraphs(rows []row, v *vocabulary) []block {
	left, right := rows[0].box.x0, rows[0].box.x1
	for _, r := range rows {
		left, right = min(left, r.box.x0), max(right, r.box.x1)
	}
	var out []block
	start := 0
	var text strings.Builder
	flush := func(end int) {
		first := &rows[start]
		whole := leaders.ReplaceAllString(text.String(), " ... ")
		if startsItem(first) {
			whole = bullet.ReplaceAllString(whole, "- ")
		}
		out = append(out, block{
			text: whole, size: first.size, bold: first.bold, rows: end - start,
			box: boxOf(rows[start:end]), item: startsItem(first), tight: len(out) > 0 && out[len(out)-1].item && startsItem(first),
		})
		text.Reset()
		start = end
	}
	for i := range rows {
		if i > start || text.Len() > 0 {
			a, b := &rows[i-1], &rows[i]
			broken := endedEarly(a, b, left, right)
			switch {
			case startsItem(b), broken && endsSentence(a), indented(&rows[start], a, b, left, broken):
				flush(i)
			case broken, contentsLine.MatchString(leaders.ReplaceAllString(a.text(v), " ... ")):
				text.WriteByte('\n')
			default:
				joinLine(&text, a, b, v)
			}
		}
		text.WriteString(rows[i].text(v))
	}
	flush(len(rows))
	return out
}

// bullet is a mark before a list item that Markdown does not know. An asterisk stays: it also marks notes.
var bullet = regexp.MustCompile(`^[•◦▪▫■□●○‣⁃∙·–—➢➤✓]\s*`)

// leaders are the dots between a title and its page in a table of contents.
var leaders = regexp.MustCompile(`\s*(?:[.·…]\s?){4,}\s*`)

// endedEarly reports whether b's first word would have had room in line a. A line that reaches the edge where its text
// ends did not end early, however far it is indented, nor did one that ends within a word.
func endedEarly(a, b *row, left, right float64) bool {
	first := b.words[0]
	if last := a.words[len(a.words)-1]; last.hyphen || partedByHyphen(last.text, first.text) {
		return false
	}
	need := first.box.width() + lineRoom*a.size
	if isCJK(firstRune(first.text)) {
		need = 2*b.size + lineRoom*a.size // ideographs are words of one character; two, since some must not begin a line
	}
	room := right - a.box.x1
	if mostlyRTL(a.words) {
		room = a.box.x0 - left
	}
	return need < room && need < right-left-a.box.width()
}

// indented reports whether b's indent tells that a paragraph begins: it is farther in than a, which stands at the
// left edge and ends a sentence or early, or, where the paragraph is a list item or a numbered heading whose lines hang, it is farther out.
func indented(first, a, b *row, left float64, broken bool) bool {
	if startsItem(first) || len(first.words) > 1 && sectionNumber.MatchString(first.words[0].text) {
		text := first.words[1].box.x0 - indent*first.size
		return a != first && a.box.x0 > text && b.box.x0 < text
	}
	return b.box.x0 > left+indent*b.size && a.box.x0 < left+indent*a.size/2 && (endsSentence(a) || broken)
}

func startsItem(r *row) bool {
	return len(r.words) > 1 && listMarker.MatchString(r.words[0].text) || strings.HasPrefix(r.words[0].text, "•")
}

func endsSentence(r *row) bool {
	return strings.ContainsRune(".!?:。！？：…", lastRune(r.words[len(r.words)-1].text))
}

// joinLine writes what stands between two lines of a paragraph. A hyphen that was written already is taken back.
func joinLine(text *strings.Builder, a, b *row, v *vocabulary) {
	last, first := a.words[len(a.words)-1], b.words[0]
	switch {
	case last.link > 0 && last.link == first.link && addressPart(last.text):
		if last.hyphen {
			text.WriteByte('-')
		}
	case last.hyphen:
		text.WriteString(v.hyphen(last.text, first.text))
	case partedByHyphen(last.text, first.text):
		s := strings.TrimSuffix(text.String(), "-")
		text.Reset()
		text.WriteString(s)
		text.WriteString(v.hyphen(strings.TrimSuffix(last.text, "-"), first.text))
	default:
		text.WriteString(v.joint(last, first))
	}
}

// partedByHyphen reports a letter and a hyphen at a line's end before a letter in lower case.
func partedByHyphen(last, first string) bool {
	s, ok := strings.CutSuffix(last, "-")
	return ok && unicode.IsLetter(lastRune(s)) && unicode.IsLower(firstRune(first))
}

// frames parts a page's words by the direction of the text, the direction of most characters first.
func frames(words []word) [][]word {
	var byTurn [4][]word
	var chars [4]int
	for _, w := range words {
		byTurn[w.turn] = append(byTurn[w.turn], w)
		chars[w.turn] += len(w.text)
	}
	order := []int{0, 1, 2, 3}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chars[b], chars[a]) })
	var out [][]word
	for _, t := range order {
		if len(byTurn[t]) > 0 {
			out = append(out, byTurn[t])
		}
	}
	return out
}
