package loader

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Bounds of one table. Browsers allow a cell to span 1000 columns; a page must not turn a few bytes into that many
// cells, nor a long cell into as many copies.
const (
	maxSpan     = 100     // columns or rows that one cell fills
	maxCells    = 1 << 16 // cells of the grid; further ones are written as paragraphs
	maxRepeated = 200     // bytes of text that are repeated in each place a cell spans
)

// tableCell is one td or th.
type tableCell struct {
	node         *html.Node
	cols, rows   int
	header, head bool // a th; in thead
}

// table writes a table of data as a pipe table, one that is only there for layout as the blocks in its cells.
func (h *htmlWalk) table(n *html.Node) {
	rows := h.tableRows(n, nil, false)
	cells := 0
	for _, row := range rows {
		for _, c := range row {
			cells += c.cols * c.rows
		}
	}
	if isLayout(n, rows) || cells > maxCells {
		h.layout(n, rows)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption && !h.content.dropped(c) {
			h.element(c)
		}
	}
	h.block(mdtext.Table(withHeader(rows, h.grid(rows))))
}

// layout writes the cells of a table as blocks.
func (h *htmlWalk) layout(table *html.Node, rows [][]tableCell) {
	for c := table.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption && !h.content.dropped(c) {
			h.element(c)
		}
	}
	for _, row := range rows {
		for _, c := range row {
			h.children(c.node)
			h.flush()
		}
	}
}

// tableRows collects the rows of a table, not those of tables within it.
func (h *htmlWalk) tableRows(n *html.Node, rows [][]tableCell, head bool) [][]tableCell {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || h.content.dropped(c) {
			continue
		}
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			rows = h.tableRows(c, rows, c.DataAtom == atom.Thead)
		case atom.Tr:
			rows = append(rows, h.rowCells(c, head))
		}
	}
	return rows
}

func (h *htmlWalk) rowCells(tr *html.Node, head bool) []tableCell {
	var cells []tableCell
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if (c.DataAtom == atom.Td || c.DataAtom == atom.Th) && !h.content.dropped(c) {
			cells = append(cells, tableCell{c, span(c, "colspan"), span(c, "rowspan"), c.DataAtom == atom.Th, head})
		}
	}
	return cells
}

// span returns how many columns or rows a cell fills.
func span(n *html.Node, key string) int {
	v, err := strconv.Atoi(strings.TrimSpace(attr(n.Attr, key)))
	if err != nil {
		return 1
	}
	return max(1, min(v, maxSpan))
}

// isLayout reports whether a table only places blocks: it says so, has one column, holds headings or code, or,
// without header cells of its own, holds a table of data.
func isLayout(table *html.Node, rows [][]tableCell) bool {
	if role := attr(table.Attr, "role"); role == "presentation" || role == "none" {
		return true
	}
	widest, headers := 0, false
	for _, row := range rows {
		widest = max(widest, len(row))
		for _, c := range row {
			headers = headers || c.header
		}
	}
	if widest <= 1 {
		return true
	}
	for _, row := range rows {
		for _, c := range row {
			if holdsBlocks(c.node, headers) {
				return true
			}
		}
	}
	return false
}

// holdsBlocks reports whether a cell has what does not fit into a pipe table. In a table with header cells a nested
// table does fit, as a list of its rows.
func holdsBlocks(cell *html.Node, headers bool) bool {
	rows := 0
	for n := range cell.Descendants() {
		switch {
		case headingLevel(n.DataAtom) > 0, n.DataAtom == atom.Pre:
			return true
		case n.DataAtom == atom.Tr:
			rows++
		}
	}
	return rows > 1 && !headers
}

// grid lays the cells out, filling each place that a cell spans: later rows of a column group must not shift.
func (h *htmlWalk) grid(rows [][]tableCell) [][]string {
	grid := make([][]string, len(rows))
	filled := make([][]bool, len(rows))
	for r, row := range rows {
		col := 0
		for _, c := range row {
			for col < len(filled[r]) && filled[r][col] {
				col++
			}
			text := h.plain(c.node)
			for dr := 0; dr < c.rows && r+dr < len(rows); dr++ {
				for dc := range c.cols {
					put(grid, filled, r+dr, col+dc, text)
					if len(text) > maxRepeated {
						text = ""
					}
				}
			}
			col += c.cols
		}
	}
	return grid
}

// put sets one place of the grid unless it is taken.
func put(grid [][]string, filled [][]bool, row, col int, text string) {
	for len(grid[row]) <= col {
		grid[row] = append(grid[row], "")
		filled[row] = append(filled[row], false)
	}
	if !filled[row][col] {
		grid[row][col], filled[row][col] = text, true
	}
}

// withHeader makes the first row of the grid one that can head a pipe table, and leaves out empty rows. Several
// rows of thead are joined by column; a table whose first row is data gets an empty header.
func withHeader(rows [][]tableCell, grid [][]string) [][]string {
	heads := 0
	for heads < len(rows) && len(rows[heads]) > 0 && rows[heads][0].head {
		heads++
	}
	body := slices.DeleteFunc(slices.Clone(grid[min(heads, len(grid)):]), emptyRow)
	if heads > 0 {
		return append([][]string{joinRows(grid[:heads])}, body...)
	}
	if len(body) == 0 {
		return nil
	}
	headers, firstIsHeader := false, true
	for r, row := range rows {
		for _, c := range row {
			headers = headers || c.header
			firstIsHeader = firstIsHeader && (r > 0 || c.header)
		}
	}
	if headers && !firstIsHeader {
		body = append([][]string{nil}, body...)
	}
	return body
}

func emptyRow(row []string) bool {
	return strings.Join(row, "") == ""
}

// joinRows joins rows column by column, leaving out repeats.
func joinRows(rows [][]string) []string {
	var joined []string
	for _, row := range rows {
		for c, text := range row {
			if c == len(joined) {
				joined = append(joined, "")
			}
			if !strings.Contains(joined[c], text) {
				joined[c] = strings.TrimSpace(joined[c] + " " + text)
			}
		}
	}
	return joined
}
