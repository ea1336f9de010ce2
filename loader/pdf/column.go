package pdf

import (
	"cmp"
	"slices"
	"unicode"
)

// Limits of the search for columns, in font sizes unless said otherwise.
const (
	gutterWidth   = 0.7    // narrowest gap between columns; LaTeX sets 1.0
	edgeTolerance = 0.15   // by which the right edges of justified lines differ
	gutterHeight  = 3.6    // least height that has text on both sides: three lines
	columnGap     = 2.0    // a column ends where the next line is farther away than this
	leastWords    = 6      // words on each side, a count
	maxTries      = 16     // gutters tried in a region, a count
	maxDepth      = 16     // nested regions, a count
	maxWords      = 20_000 // words on a page: one with more is a map or a drawing, and is read across
	maxPlaces     = 600    // places of gutters tried in a region, a count

	letterShare = 0.6 // part of a column's characters that are letters, a ratio
)

// likeness is what columns of running text have to be at least.
type likeness struct {
	letters float64 // mean length of the pieces between wide gaps, in letters; an ideograph counts as two
	fill    float64 // part of the column's width that lines fill
}

// Less is asked where the file draws one side after the other, since tables are drawn row by row.
var (
	drawnApart  = likeness{letters: 12, fill: 0.55}
	drawnAcross = likeness{letters: 20, fill: 0.75}
)

// gutter is a vertical strip without words between two columns.
type gutter struct {
	x           float64
	top, bottom float64 // the strip's ends: lines above and below are not part of the columns
	both        float64 // height that has words on both sides
}

// regions cuts a page into parts that are read one after the other, each from top to bottom: what stands above the
// columns, the columns, what stands below, and so on inside each (an XY-cut in which a cut across needs no blank
// line). Cells of tables are not taken for columns: their text is short.
func regions(words []word) [][]word {
	return cut(words, 0)
}

func cut(words []word, depth int) [][]word {
	if len(words) == 0 {
		return nil
	}
	if depth == maxDepth || len(words) > maxWords {
		return [][]word{words}
	}
	g, ok := findGutter(words)
	if !ok {
		return [][]word{words}
	}
	above, left, right, below := g.part(words)
	if mostlyRTL(words) {
		left, right = right, left
	}
	var out [][]word
	for _, part := range [][]word{above, left, right, below} {
		out = append(out, cut(part, depth+1)...)
	}
	return out
}

// part sorts the words by the gutter.
func (g gutter) part(words []word) (above, left, right, below []word) {
	for _, w := range words {
		switch y := w.box.centerY(); {
		case y > g.top:
			above = append(above, w)
		case y < g.bottom:
			below = append(below, w)
		case w.box.centerX() < g.x:
			left = append(left, w)
		default:
			right = append(right, w)
		}
	}
	return above, left, right, below
}

// findGutter returns the gutter with most height that parts columns of prose.
func findGutter(words []word) (gutter, bool) {
	if len(texts(words)) == 0 {
		return gutter{}, false
	}
	size := medianSize(texts(words))
	var found []gutter
	for _, x := range candidates(words, size) {
		found = append(found, freeStrips(words, x, size)...)
	}
	slices.SortStableFunc(found, func(a, b gutter) int { return cmp.Compare(b.both, a.both) })
	tries := 0
	for i, g := range found {
		if i > 0 && near(found[:i], g, size) {
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		g = g.trim(words, size)
		if _, left, right, _ := g.part(words); parallel(left, right, size) {
			return g, true
		}
	}
	return gutter{}, false
}

// near reports whether a gutter like g was tried.
func near(tried []gutter, g gutter, size float64) bool {
	for _, t := range tried {
		if max(t.x-g.x, g.x-t.x) < size && max(t.top-g.top, g.top-t.top) < size && max(t.bottom-g.bottom, g.bottom-t.bottom) < size {
			return true
		}
	}
	return false
}

// candidates are the places right of a word at which a gutter may begin.
func candidates(words []word, size float64) []float64 {
	xs := make([]float64, len(words))
	for i, w := range words {
		xs[i] = w.box.x1 + gutterWidth*size/2
	}
	slices.Sort(xs)
	step := max(size/8, (xs[len(xs)-1]-xs[0])/maxPlaces)
	out := xs[:0]
	for _, x := range xs {
		if len(out) == 0 || x-out[len(out)-1] > step {
			out = append(out, x)
		}
	}
	return out
}

// freeStrips returns the strips around x that no word crosses and that have enough words on both sides.
func freeStrips(words []word, x, size float64) []gutter {
	const half = gutterWidth/2 - edgeTolerance
	var crossing []box
	for _, w := range words {
		if w.box.x0 < x+half*size && w.box.x1 > x-half*size {
			crossing = append(crossing, w.box)
		}
	}
	slices.SortFunc(crossing, func(a, b box) int { return cmp.Compare(b.y1, a.y1) })
	page := words[0].box
	for _, w := range words {
		page = page.union(w.box)
	}
	var out []gutter
	top := page.y1
	for _, b := range append(crossing, box{y0: page.y0, y1: page.y0}) {
		if top-b.y1 >= gutterHeight*size {
			if g, ok := measure(words, gutter{x: x, top: top, bottom: b.y1}, size); ok {
				out = append(out, g)
			}
		}
		top = min(top, b.y0)
	}
	return out
}

// measure tells how high both sides of a strip stand beside each other; ok is false if a side has too little.
func measure(words []word, g gutter, size float64) (_ gutter, ok bool) {
	var sides [2]box
	var count [2]int
	for _, w := range words {
		if y := w.box.centerY(); y > g.top || y < g.bottom || w.table != nil {
			continue
		}
		side := 0
		if w.box.centerX() >= g.x {
			side = 1
		}
		if count[side]++; count[side] == 1 {
			sides[side] = w.box
		} else {
			sides[side] = sides[side].union(w.box)
		}
	}
	if min(count[0], count[1]) < leastWords {
		return g, false
	}
	g.both = sides[0].overlapY(sides[1])
	return g, g.both >= gutterHeight*size
}

// trim cuts the strip to the lines that belong to its columns.
func (g gutter) trim(words []word, size float64) gutter {
	_, left, right, _ := g.part(words)
	l, r := extent(left), extent(right)
	all := append(left, right...)
	g.bottom = reach(all, max(l.y0, r.y0), columnGap*size)
	g.top = -reach(upsideDown(all), -min(l.y1, r.y1), columnGap*size)
	return g
}

// reach goes down from y, line by line, as long as the next line is nearer than gap, and returns where it ends.
func reach(words []word, y, gap float64) float64 {
	sorted := slices.Clone(words)
	slices.SortFunc(sorted, func(a, b word) int { return cmp.Compare(b.box.y1, a.box.y1) })
	for _, w := range sorted {
		if w.box.y0 >= y {
			continue
		}
		if y-w.box.y1 > gap {
			break
		}
		y = w.box.y0
	}
	return y
}

func upsideDown(words []word) []word {
	out := slices.Clone(words)
	for i, w := range out {
		out[i].box.y0, out[i].box.y1 = -w.box.y1, -w.box.y0
	}
	return out
}

func extent(words []word) box {
	b := words[0].box
	for _, w := range words[1:] {
		b = b.union(w.box)
	}
	return b
}

// parallel reports whether both sides are columns of running text: long pieces that fill the width.
func parallel(left, right []word, size float64) bool {
	const fewSwitches, linesPerSwitch = 3, 10 // a figure or a note may be drawn out of order
	left, right = texts(left), texts(right)
	least := drawnAcross
	if switches(left, right) <= max(fewSwitches, min(len(rowsOf(left)), len(rowsOf(right)))/linesPerSwitch) {
		least = drawnApart
	}
	return prose(left, size, least) && prose(right, size, least)
}

// switches counts how often the drawing order changes sides.
func switches(left, right []word) int {
	side := map[int]bool{}
	var order []int
	for _, w := range left {
		order = append(order, w.seq)
	}
	for _, w := range right {
		side[w.seq] = true
		order = append(order, w.seq)
	}
	slices.Sort(order)
	n := 0
	for i := 1; i < len(order); i++ {
		if side[order[i]] != side[order[i-1]] {
			n++
		}
	}
	return n
}

// prose reports whether the words are lines of running text, in one column or several.
func prose(words []word, size float64, least likeness) bool {
	rows := rowsOf(words)
	if len(rows) < 3 {
		return false
	}
	width := extent(words).width()
	var weighted, letters, all, filled float64
	for _, r := range rows {
		start := 0
		for i := 1; i <= len(r.words); i++ {
			if i < len(r.words) && r.words[i].box.x0-r.words[i-1].box.x1 < cellGap*size {
				continue
			}
			l, n := letterCount(r.words[start:i])
			weighted += n * n
			letters += l
			all += n
			filled += r.words[i-1].box.x1 - r.words[start].box.x0
			start = i
		}
	}
	return weighted/all >= least.letters && letters/all >= letterShare && filled >= least.fill*width*float64(len(rows))
}

// letterCount returns the letters and the visible characters of words; an ideograph counts as two.
func letterCount(words []word) (letters, all float64) {
	for _, w := range words {
		for _, r := range w.text {
			n := 1.0
			if isCJK(r) {
				n = 2
			}
			all += n
			if unicode.IsLetter(r) {
				letters += n
			}
		}
	}
	return letters, max(all, 1)
}

func medianSize(words []word) float64 {
	sizes := make([]float64, len(words))
	for i, w := range words {
		sizes[i] = w.size
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

func mostlyRTL(words []word) bool {
	rtl := 0
	for _, w := range words {
		if isRTL(w.text) {
			rtl++
		}
	}
	return rtl*2 > len(words)
}
