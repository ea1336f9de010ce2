package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Limits of ruled tables: distances in points.
const (
	snap      = 3.0     // rules that are nearer are one, or touch
	maxTouch  = 4 << 20 // pairs of rules that are compared on a page, a count: a page with more is a drawing
	openWords = 60      // words of a cell where the table has no border around it, a count: columns of text with rules between have more
	splitBy   = 0.8     // part of the lines' ends that must look like rows' ends for the lines to be rows
)

// rule is a straight line along an axis.
type rule struct{ at, from, to float64 }

// covers reports whether the rule passes a place.
func (r rule) covers(x float64) bool { return r.from-snap <= x && x <= r.to+snap }

// table is a ruled table: its cells by row and column, from the upper left.
type table struct {
	box   box
	xs    []float64 // edges of the columns, ascending
	ys    []float64 // edges of the rows, descending
	h, v  []rule
	cells [][]*cell // cells that span several places stand in each
	has   map[wordKey]bool
}

// cell is what rules enclose.
type cell struct {
	row, col int // upper left
	cols     int // how many columns it spans
	words    []word
}

// takeTables finds the tables among the rules of a page and moves the words in each, turned ones too, out of the frames
// into it. In the first frame, whose direction is the page's, one word stands for each table.
func takeTables(frames [][]word, rules []box) {
	turn := frames[0][0].turn
	var tables []*table
	for _, group := range touching(turnedBoxes(rules, turn)) {
		if t := newTable(group[0], group[1]); t != nil {
			tables = append(tables, t)
		}
	}
	slices.SortStableFunc(tables, func(a, b *table) int { return cmp.Compare(a.area(), b.area()) }) // of nested ones the inner
	for _, t := range tables {
		t.fill(frames, turn)
		if !t.plausible() {
			continue
		}
		for f, words := range frames {
			frames[f] = slices.DeleteFunc(slices.Clone(words), func(w word) bool { return t.has[wordKey{w.seq, w.turn}] })
		}
		first := t.firstWord()
		frames[0] = append(frames[0], word{box: t.box, size: first.size, turn: turn, seq: first.seq, table: t})
	}
}

// wordKey tells the words of a page apart.
type wordKey struct{ seq, turn int }

func (t *table) area() float64 { return t.box.width() * t.box.height() }

// touching parts rules into groups that touch each other: the horizontal and the vertical ones of each.
func touching(rules []box) [][2][]rule {
	var hs, vs []rule
	for _, b := range rules {
		if b.width() >= b.height() {
			hs = append(hs, rule{b.centerY(), b.x0, b.x1})
		} else {
			vs = append(vs, rule{b.centerX(), b.y0, b.y1})
		}
	}
	hs, vs = merged(hs), merged(vs)
	if len(hs)*len(vs) > maxTouch {
		return nil
	}
	group := make([]int, len(hs)+len(vs))
	for i := range group {
		group[i] = i
	}
	var find func(int) int
	find = func(i int) int {
		if group[i] != i {
			group[i] = find(group[i])
		}
		return group[i]
	}
	for i, h := range hs {
		for j, v := range vs {
			if h.covers(v.at) && v.covers(h.at) {
				group[find(len(hs)+j)] = find(i)
			}
		}
	}
	byRoot := map[int]int{}
	var out [][2][]rule
	for i := range group {
		root := find(i)
		n, ok := byRoot[root]
		if !ok {
			n = len(out)
			byRoot[root] = n
			out = append(out, [2][]rule{})
		}
		if i < len(hs) {
			out[n][0] = append(out[n][0], hs[i])
		} else {
			out[n][1] = append(out[n][1], vs[i-len(hs)])
		}
	}
	return out
}

// merged joins rules on one line that touch or overlap.
func merged(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var lines [][]rule // rules on one line
	for _, r := range rules {
		if n := len(lines); n > 0 && r.at-lines[n-1][0].at <= snap/2 {
			lines[n-1] = append(lines[n-1], r)
		} else {
			lines = append(lines, []rule{r})
		}
	}
	var out []rule
	for _, line := range lines {
		slices.SortFunc(line, func(a, b rule) int { return cmp.Compare(a.from, b.from) })
		start := len(out)
		for _, r := range line {
			if n := len(out); n > start && r.from <= out[n-1].to+snap {
				out[n-1].to = max(out[n-1].to, r.to)
			} else {
				out = append(out, r)
			}
		}
	}
	return out
}

// newTable makes a table of rules that touch, or nil where they enclose fewer than two rows or columns. Where the
// border is missing, the ends of the rules across stand for it.
func newTable(h, v []rule) *table {
	if len(h) == 0 || len(v) == 0 {
		return nil
	}
	t := &table{h: h, v: v}
	var xs, ys []float64
	for _, r := range v {
		xs = append(xs, r.at)
		ys = append(ys, r.from, r.to)
	}
	for _, r := range h {
		ys = append(ys, r.at)
		xs = append(xs, r.from, r.to)
	}
	t.xs, t.ys = edgesOfCells(xs), edgesOfCells(ys)
	slices.Reverse(t.ys)
	rows, cols := len(t.ys)-1, len(t.xs)-1
	if rows < 2 || cols < 2 || rows*cols > maxCells*maxCells {
		return nil
	}
	t.box = box{t.xs[0], t.ys[rows], t.xs[cols], t.ys[0]}
	for r := range rows {
		t.cells = append(t.cells, t.cellsOf(r))
	}
	return t
}

// cellsOf parts a row where rules pass it. A cell goes on from the row above where no rule is between and both have the
// same columns.
func (t *table) cellsOf(r int) []*cell {
	line := make([]*cell, len(t.xs)-1)
	for c := 0; c < len(line); {
		end := c + 1
		for end < len(line) && !crossed(t.v, t.xs[end], (t.ys[r]+t.ys[r+1])/2) {
			end++
		}
		own := &cell{row: r, col: c, cols: end - c}
		if r > 0 && !crossed(t.h, t.ys[r], (t.xs[c]+t.xs[end])/2) {
			if above := t.cells[r-1][c]; above.col == c && above.cols == own.cols {
				own = above
			}
		}
		for ; c < end; c++ {
			line[c] = own
		}
	}
	return line
}

// edgesOfCells sorts places and makes one of those that are near.
func edgesOfCells(at []float64) []float64 {
	slices.Sort(at)
	var out []float64
	for _, x := range at {
		if len(out) == 0 || x-out[len(out)-1] > snap {
			out = append(out, x)
		}
	}
	return out
}

// crossed reports whether a rule at this place passes x.
func crossed(rules []rule, at, x float64) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return math.Abs(r.at-at) <= snap && r.from <= x && x <= r.to })
}

// fill puts words into the cells in whose middle they stand.
func (t *table) fill(frames [][]word, turn int) {
	t.has = map[wordKey]bool{}
	for _, words := range frames {
		for _, w := range words {
			b := w.box.unturned(w.turn).turned(turn)
			if x, y := b.centerX(), b.centerY(); t.box.contains(x, y) && w.table == nil {
				col := max(0, slices.IndexFunc(t.xs[1:], func(edge float64) bool { return x <= edge }))
				row := max(0, slices.IndexFunc(t.ys[1:], func(edge float64) bool { return y >= edge }))
				t.has[wordKey{w.seq, w.turn}] = true
				c := t.cells[row][col]
				c.words = append(c.words, w)
			}
		}
	}
}

// plausible reports whether the rules enclose a table's cells: two rows at least have text in two, no cell that spans
// columns holds texts of several, and without a border around no cell has much.
func (t *table) plausible() bool {
	rows, most := 0, 0
	for r, line := range t.cells {
		filled := 0
		for c, cell := range line {
			if cell.row != r || cell.col != c || len(cell.words) == 0 {
				continue
			}
			filled++
			most = max(most, len(cell.words))
			if cell.cols > 1 && holdsColumns(cell.words) {
				return false
			}
		}
		if filled >= 2 {
			rows++
		}
	}
	return rows >= 2 && (most <= openWords || t.closed())
}

// holdsColumns reports whether words stand in columns of their own.
func holdsColumns(words []word) bool {
	rows := rowsOf(words)
	return slices.ContainsFunc(rows, func(r row) bool { return len(r.cells()) > 1 })
}

// closed reports whether a border goes around the table.
func (t *table) closed() bool {
	x, y := t.box.centerX(), t.box.centerY()
	return crossed(t.h, t.box.y0, x) && crossed(t.h, t.box.y1, x) && crossed(t.v, t.box.x0, y) && crossed(t.v, t.box.x1, y)
}

func (t *table) firstWord() word {
	var first *word
	for _, line := range t.cells {
		for _, c := range line {
			for i := range c.words {
				if first == nil || c.words[i].seq < first.seq {
					first = &c.words[i]
				}
			}
		}
	}
	return *first
}

// blocks writes the table, and before it what stands in a row of one cell at its top.
func (t *table) blocks(v *vocabulary) []block {
	var out []block
	rows := t.cells
	for len(rows) > 1 && rows[0][0].cols == len(rows[0]) {
		if title := rows[0][0]; title.row == t.rowOf(rows) {
			out = append(out, textBlocks(title.words, v)...)
		}
		rows = rows[1:]
	}
	grid := withoutEmpty(t.texts(rows, t.rowOf(rows), v))
	return append(out, block{text: mdtext.Table(grid), size: t.firstWord().size, rows: len(grid), table: true, box: t.box})
}

// rowOf is the number of the first of the last rows.
func (t *table) rowOf(rows [][]*cell) int { return len(t.cells) - len(rows) }

// texts returns the cells' texts. The rows of a header whose cells stand above several are joined into one; a row whose
// lines are rows of their own is parted.
func (t *table) texts(rows [][]*cell, from int, v *vocabulary) [][]string {
	head := t.headRows(rows, from)
	first := make([]string, len(t.xs)-1)
	for c := range first {
		var parts []string
		var last *cell
		for _, line := range rows[:head] {
			if cell := line[c]; cell != last {
				parts = append(parts, joinCell(cell.words, v))
				last = cell
			}
		}
		first[c] = strings.TrimSpace(strings.Join(parts, " "))
	}
	grid := [][]string{first}
	for i, line := range rows[head:] {
		r := from + head + i
		for _, part := range lineRows(line, r) {
			texts := make([]string, len(line))
			for c, words := range part {
				texts[c] = joinCell(words, v)
			}
			grid = append(grid, texts)
		}
	}
	return grid
}

// headRows is how many rows the header takes: more than one where a cell of it stands above several others.
func (t *table) headRows(rows [][]*cell, from int) int {
	if len(rows) < 3 {
		return 1
	}
	spans := false
	for c := 1; c < len(rows[0]); c++ {
		spans = spans || rows[0][c].col < c && rows[1][c].col == c && len(rows[0][c].words) > 0
	}
	if !spans {
		return 1
	}
	if slices.ContainsFunc(rows[1], func(c *cell) bool { return c.row == from }) {
		return 2 // a cell of the header takes both
	}
	for c, cell := range rows[1] {
		if cell.row == from+1 && cell.col == c && slices.ContainsFunc(cell.words, func(w word) bool { return isNumber(w.text) }) {
			return 1
		}
	}
	return 2
}

// lineRows parts a row of the rules by lines of text where these look like rows. It returns the words by column.
func lineRows(line []*cell, r int) [][][]word {
	whole := make([][]word, len(line))
	var all []word
	columns := 0
	for c, cell := range line {
		if cell.row == r && cell.col == c && len(cell.words) > 0 {
			whole[c] = cell.words
			all = append(all, cell.words...)
			columns++
		}
	}
	if columns < 2 {
		return [][][]word{whole}
	}
	var parts [][][]word
	full := 0 // lines with text in each column
	for _, row := range rowsOf(all) {
		part := make([][]word, len(line))
		filled := 0
		for c := range whole {
			for _, w := range row.words {
				if slices.ContainsFunc(whole[c], func(x word) bool { return x.seq == w.seq }) {
					part[c] = append(part[c], w)
				}
			}
			if len(part[c]) > 0 {
				filled++
			}
		}
		if filled == columns {
			full++
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) < 2:
	case columns >= 3 && full >= 2 && numbersIn(parts, columns):
		return startAtFull(parts, columns)
	case len(parts) >= 3 && linesEnd(parts, whole):
		return parts
	}
	return [][][]word{whole}
}

func filledColumns(part [][]word) int {
	n := 0
	for _, words := range part {
		if len(words) > 0 {
			n++
		}
	}
	return n
}

// numbersIn reports whether some column has a figure on each line that fills all columns.
func numbersIn(parts [][][]word, columns int) bool {
	for c := range parts[0] {
		all := true
		for _, part := range parts {
			if filledColumns(part) == columns {
				all = all && slices.ContainsFunc(part[c], func(w word) bool { return strings.ContainsFunc(w.text, unicode.IsDigit) })
			}
		}
		if all {
			return true
		}
	}
	return false
}

// startAtFull makes rows that begin with the lines that fill all columns; what stands above the first is a row as well.
func startAtFull(parts [][][]word, columns int) [][][]word {
	var out [][][]word
	for i, part := range parts {
		if i == 0 || filledColumns(part) == columns {
			out = append(out, part)
			continue
		}
		last := out[len(out)-1]
		for c := range part {
			last[c] = append(last[c], part[c]...)
		}
	}
	return out
}

// linesEnd reports whether nearly each line has text in its first cell and in another, and none of its cells goes on.
func linesEnd(parts [][][]word, whole [][]word) bool {
	ends := 0
	for i := 1; i < len(parts); i++ {
		if endsRow(parts[i-1], parts[i], whole) {
			ends++
		}
	}
	return float64(ends) >= splitBy*float64(len(parts)-1)
}

// endsRow reports whether the line below begins a row: it has text in the first column that has any and in another, and
// no cell above had to end where it does.
func endsRow(above, below, whole [][]word) bool {
	first := slices.IndexFunc(whole, func(ws []word) bool { return len(ws) > 0 })
	filled := 0
	for c := range below {
		if len(below[c]) == 0 {
			continue
		}
		filled++
		if len(above[c]) == 0 {
			continue
		}
		a, b, w := extent(above[c]), below[c][0], extent(whole[c])
		if !allNumbers([][]word{above[c]}) && a.width()+b.box.width()+lineRoom*b.size >= w.width() && len(above[c]) > 1 {
			return false
		}
	}
	return len(below[first]) > 0 && filled >= 2
}

// joinCell is the text of a cell on one line, text of each direction apart.
func joinCell(words []word, v *vocabulary) string {
	var b strings.Builder
	for i, frame := range frames(words) {
		if i > 0 {
			b.WriteByte(' ')
		}
		rows := rowsOf(frame)
		for k := range rows {
			if k > 0 {
				joinLine(&b, &rows[k-1], &rows[k], v)
			}
			b.WriteString(rows[k].text(v))
		}
	}
	return leaders.ReplaceAllString(b.String(), " ")
}

// withoutEmpty leaves out rows and columns without text.
func withoutEmpty(grid [][]string) [][]string {
	var keep []int
	for c := range grid[0] {
		if slices.ContainsFunc(grid, func(line []string) bool { return line[c] != "" }) {
			keep = append(keep, c)
		}
	}
	var out [][]string
	for _, line := range grid {
		var kept []string
		for _, c := range keep {
			kept = append(kept, line[c])
		}
		if slices.ContainsFunc(kept, func(s string) bool { return s != "" }) {
			out = append(out, kept)
		}
	}
	return out
}
