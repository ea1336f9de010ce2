package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Limits of tables.
const (
	alignGap = 0.4  // how far apart the edges of cells in one column may be, in font sizes
	maxCells = 500  // a line with more is no table's, a count
	rowGap   = 2.5  // lines of a table are no farther apart than this many usual distances
	wrapGap  = 1.35 // lines of one cell are no farther apart than this, in font sizes
	padding  = 1.25 // rows are this many times as far apart as lines of one cell, where a table tells rows by space
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
		case distance <= rowGap*max(pitch, rows[i].size) && aligned(prev, cells, rows[i].size):
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

// aligned reports whether at least two cells, and half of those of the shorter line, stand under each other: by the
// left edge, the right edge or the middle.
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
	return n >= 2 && n*2 >= min(len(a), len(b))
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

// tableBlock writes each row as a line of cells. A line that is nearer to the one above than others are goes on with
// that one's cells, if it fits under them and is no row by itself: one that fills all columns, or of figures only.
func tableBlock(rows []row, v *vocabulary) block {
	tight, loose := math.Inf(1), 0.0
	for i := 1; i < len(rows); i++ {
		d := rows[i-1].box.centerY() - rows[i].box.centerY()
		tight, loose = min(tight, d), max(loose, d)
	}
	wraps := loose >= padding*tight
	var grid [][]string
	var above []box
	var ends [][]word // of the last row's cells, the line that each ended with
	for i := range rows {
		cells := rows[i].cells()
		boxes := spans(cells)
		if wraps && i > 0 && rows[i-1].box.centerY()-rows[i].box.centerY() < (tight+padding*tight)/2 {
			if columns := columnsOf(above, boxes, rows[i].size); columns != nil && len(columns) < len(above) && !allNumbers(cells) {
				last := grid[len(grid)-1]
				for k, c := range columns {
					if !brokenWord(ends[c], cells[k], rows, above[c:], v) {
						last[c] += " "
					}
					last[c] += cellText(cells[k], v)
					ends[c] = cells[k]
				}
				continue
			}
		}
		line := make([]string, len(cells))
		for k, c := range cells {
			line[k] = cellText(c, v)
		}
		grid, above, ends = append(grid, line), boxes, cells
	}
	lines := make([]string, len(grid))
	for i, cells := range grid {
		lines[i] = "| " + strings.Join(cells, " | ") + " |"
	}
	return block{text: strings.Join(lines, "\n"), size: rows[0].size, rows: len(rows), table: true}
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

func cellText(words []word, v *vocabulary) string {
	return strings.ReplaceAll(joinWords(words, v), "|", `\|`)
}
