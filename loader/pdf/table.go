package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Limits of tables.
const (
	alignGap   = 0.4  // how far apart the edges of cells in one column may be, in font sizes
	manyCells  = 5    // cells of a line that no line of prose has, a count
	pairShare  = 0.8  // part of them that must have another cell nearest to them
	maxCells   = 500  // a line with more is no table's, a count
	rowGap     = 2.5  // lines of a table are no farther apart than this many usual distances
	wrapGap    = 1.35 // lines of one cell are no farther apart than this, in font sizes
	columnNear = 1.0  // a cell that is nearer to a column than this many of its heights belongs to it
	headGap    = 0.95 // lines of a header are nearer than this part of the distance to the rows
	padding    = 1.25 // rows are this many times as far apart as lines of one cell, where a table tells rows by space
)

// tableRows numbers the tables from 1 and tells for each line in which it stands; 0: in none. A table is two or more
// lines, one under the other, with two or more cells that are aligned with cells of the line before, and the lines
// on which one cell alone goes on.
func tableRows(rows []row, pitch float64) []int {
	in := make([]int, len(rows))
	n := 0
	prev := spans(rows[0].cells())
	for i := 1; i < len(rows); i++ {
		cells := spans(rows[i].cells())
		distance := rows[i-1].box.centerY() - rows[i].box.centerY()
		switch {
		case distance <= rowGap*reachOf(prev, cells)*max(pitch, rows[i].size) && aligned(prev, cells, rows[i].size):
			if in[i-1] == 0 {
				n++
				in[i-1] = n
			}
			in[i] = in[i-1]
		case in[i-1] > 0 && distance <= wrapGap*rows[i].size && columnsOf(prev, cells, rows[i].size) != nil:
			in[i] = in[i-1]
			continue // the next line is compared with the row, not with what its cells go on with
		}
		prev = cells
	}
	return in
}

// reachOf is how many times farther than usual the next line may be: lines of many cells belong together across a wider
// gap, which is where the header ends.
func reachOf(a, b []box) float64 {
	if min(len(a), len(b)) >= manyCells {
		return 2
	}
	return 1
}

// aligned reports whether at least two cells, and half of those of the shorter line, stand under each other: by the
// left edge, the right edge or the middle. In lines of many cells it is enough that nearly each has another cell of the
// other line nearest to it.
func aligned(a, b []box, size float64) bool {
	if len(a) < 2 || len(b) < 2 || max(len(a), len(b)) > maxCells {
		return false
	}
	n := 0
	for _, x := range a {
		if slices.ContainsFunc(b, func(y box) bool {
			return min(math.Abs(x.x0-y.x0), math.Abs(x.x1-y.x1), math.Abs(x.centerX()-y.centerX())) <= alignGap*size
		}) {
			n++
		}
	}
	return n >= 2 && n*2 >= min(len(a), len(b)) || paired(a, b)
}

// paired reports whether nearly each cell of the shorter of two lines of many cells has another one nearest to it.
func paired(a, b []box) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < manyCells {
		return false
	}
	nearest := map[int]bool{}
	for _, x := range a {
		best := 0
		for i, y := range b {
			if math.Abs(x.centerX()-y.centerX()) < math.Abs(x.centerX()-b[best].centerX()) {
				best = i
			}
		}
		nearest[best] = true
	}
	return float64(len(nearest)) >= pairShare*float64(len(a))
}

// columnsOf tells for each cell of a line under which cell of the row above it begins, without reaching under the
// next; nil if one does not.
func columnsOf(above, cells []box, size float64) []int {
	if len(cells) > len(above) || len(above) > maxCells {
		return nil
	}
	out := make([]int, len(cells))
	for i, c := range cells {
		j := slices.IndexFunc(above, func(a box) bool { return math.Abs(a.x0-c.x0) <= alignGap*size })
		if j < 0 || j+1 < len(above) && c.x1 > above[j+1].x0 {
			return nil
		}
		out[i] = j
	}
	return out
}

// tableLine is one row of a table: its cells, where they stand, and the words with which each ended.
type tableLine struct {
	texts []string
	boxes []box
	ends  [][]word
	tall  box  // around all cells
	words bool // no cell is a number
}

// tableBlock writes each row as a line of cells. A line that is nearer to the one above than others are goes on with
// that one's cells, if it fits under them and is no row by itself: one that fills all columns, or of figures only.
func tableBlock(rows []row, v *vocabulary) block {
	tight, loose := math.Inf(1), 0.0
	for i := 1; i < len(rows); i++ {
		d := rows[i-1].box.centerY() - rows[i].box.centerY()
		tight, loose = min(tight, d), max(loose, d)
	}
	wraps := loose >= padding*tight
	var lines []tableLine
	for i := range rows {
		cells := rows[i].cells()
		boxes := spans(cells)
		if wraps && i > 0 && rows[i-1].box.centerY()-rows[i].box.centerY() < (tight+padding*tight)/2 {
			last := &lines[len(lines)-1]
			if columns := columnsOf(last.boxes, boxes, rows[i].size); columns != nil && len(columns) < len(last.boxes) && !allNumbers(cells) {
				last.goOn(cells, columns, rows, v)
				continue
			}
		}
		lines = append(lines, newTableLine(cells, boxes, v))
	}
	lines = joinHeader(lines)
	return block{text: mdtext.Table(gridOf(lines)), size: rows[0].size, rows: len(rows), table: true, box: boxOf(rows)}
}

func newTableLine(cells [][]word, boxes []box, v *vocabulary) tableLine {
	l := tableLine{boxes: boxes, ends: cells, tall: boxes[0], words: true}
	for i, c := range cells {
		l.texts = append(l.texts, joinWords(c, v))
		l.tall = l.tall.union(boxes[i])
		l.words = l.words && !allNumbers([][]word{c})
	}
	return l
}

// goOn adds the cells of a further line to the columns named.
func (l *tableLine) goOn(cells [][]word, columns []int, rows []row, v *vocabulary) {
	for k, c := range columns {
		if !brokenWord(l.ends[c], cells[k], rows, l.boxes[c:], v) {
			l.texts[c] += " "
		}
		l.texts[c] += joinWords(cells[k], v)
		l.ends[c] = cells[k]
	}
}

// joinHeader makes one line of a header whose cells take several: lines of words above the first line that fills all
// columns, and below it as long as they fill fewer and are nearer to it than the rows are to each other.
func joinHeader(lines []tableLine) []tableLine {
	full := 0
	for _, l := range lines {
		full = max(full, len(l.texts))
	}
	head := 0
	for head < len(lines) && lines[head].words && len(lines[head].texts) < full {
		head++
	}
	if head < len(lines) && lines[head].words && len(lines[head].texts) == full {
		for head++; head+1 < len(lines) && lines[head].words && len(lines[head].texts) < full &&
			lines[head-1].tall.centerY()-lines[head].tall.centerY() < headGap*(lines[head].tall.centerY()-lines[head+1].tall.centerY()); head++ {
		}
	}
	if head < 2 || head == len(lines) {
		return lines
	}
	columns := columnsOver(lines)
	joined := tableLine{boxes: columns, texts: make([]string, len(columns)), tall: lines[0].tall}
	for _, l := range lines[:head] {
		for i, text := range l.texts {
			for c := range columns { // a cell that stands above several columns names each
				if covers := min(l.boxes[i].x1, columns[c].x1) - max(l.boxes[i].x0, columns[c].x0); covers > 0 && columns[c].centerX() >= l.boxes[i].x0 && columns[c].centerX() <= l.boxes[i].x1 || c == columnAt(columns, l.boxes[i]) {
					joined.texts[c] = strings.TrimSpace(joined.texts[c] + " " + text)
				}
			}
		}
	}
	return append([]tableLine{joined}, lines[head:]...)
}

// gridOf puts the cells of each line into the table's columns.
func gridOf(lines []tableLine) [][]string {
	columns := columnsOver(lines)
	grid := make([][]string, len(lines))
	for i, l := range lines {
		grid[i] = make([]string, len(columns))
		for k, text := range l.texts {
			c := columnAt(columns, l.boxes[k])
			grid[i][c] = strings.TrimSpace(grid[i][c] + " " + text)
		}
	}
	return grid
}

// columnsOver returns where the columns stand: as in the fullest line, wider where cells of other lines reach farther
// without reaching the next column, and one more where a cell stands near none.
func columnsOver(lines []tableLine) []box {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(lines[b].boxes), len(lines[a].boxes)) })
	var columns []box
	for _, i := range order {
		for _, b := range lines[i].boxes {
			near := columnNear * b.height()
			under := slices.IndexFunc(columns, func(c box) bool { return min(b.x1, c.x1)+near > max(b.x0, c.x0) })
			if under >= 0 {
				under = columnAt(columns, b)
			}
			if under < 0 {
				at := slices.IndexFunc(columns, func(c box) bool { return c.x0 > b.x0 })
				if at < 0 {
					at = len(columns)
				}
				columns = slices.Insert(columns, at, b)
				continue
			}
			wide := columns[under].union(b)
			if (under == 0 || columns[under-1].x1 < wide.x0) && (under+1 == len(columns) || columns[under+1].x0 > wide.x1) {
				columns[under] = wide
			}
		}
	}
	return columns
}

// columnAt is the column with which a cell shares most width, or the one that is nearest.
func columnAt(columns []box, b box) int {
	best, most := 0, math.Inf(-1)
	for i, c := range columns {
		if shared := min(b.x1, c.x1) - max(b.x0, c.x0); shared > most {
			best, most = i, shared
		}
	}
	return best
}

// brokenWord reports whether a line of a cell ends inside a word, without a hyphen, as a program sets a word that is
// wider than its column: the line is nothing but the word's beginning, no line of the column reaches far enough for one
// letter more, and the document has the word elsewhere. columns are the boxes of the cell and of those right of it.
func brokenWord(line, next []word, rows []row, columns []box, v *vocabulary) bool {
	a, b := line[0], next[0]
	if len(line) > 1 || a.blank || !unicode.IsLetter(lastRune(a.text)) || !unicode.IsLower(firstRune(b.text)) || !v.words[bare(a.text+b.text)] {
		return false
	}
	right := math.Inf(1)
	if len(columns) > 1 {
		right = columns[1].x0
	}
	letter := b.box.width() / float64(len([]rune(b.text)))
	return !slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(r.words, func(w word) bool {
			return w.box.x0 >= a.box.x0 && w.box.centerX() < right && w.box.x1 >= a.box.x1+letter
		})
	})
}

func allNumbers(cells [][]word) bool {
	for _, c := range cells {
		for _, w := range c {
			if !isNumber(w.text) {
				return false
			}
		}
	}
	return true
}
