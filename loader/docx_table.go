package loader

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// maxColumns bounds the columns of a table: Word allows 63.
const maxColumns = 256

// docxCell is one cell of a row.
type docxCell struct {
	blocks []docxBlock
	span   int  // columns it takes
	joined bool // it goes on from the cell above
}

// text is the cell's content on one line: the cells of a table within it are separated by commas, its rows by
// semicolons.
func (c docxCell) text() string {
	parts := make([]string, len(c.blocks))
	for i, b := range c.blocks {
		switch {
		case b.level > 0:
			parts[i] = b.text
		case b.rows != nil:
			parts[i] = rowsText(b.rows)
		default:
			parts[i] = strings.TrimSpace(b.prefix) + " " + b.text
		}
	}
	return mdtext.Line(strings.Join(parts, " "))
}

func rowsText(rows [][]docxCell) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, c := range row {
			if text := c.text(); text != "" {
				cells = append(cells, text)
			}
		}
		if len(cells) > 0 {
			lines = append(lines, strings.Join(cells, ", "))
		}
	}
	return strings.Join(lines, "; ")
}

// table reads a table and writes it as a pipe table: a cell over several columns is followed by empty ones, one over
// several rows stands in each of them, so that a row makes sense by itself. A table of one column only frames text.
func (r *docxReader) table(x *xmlReader, out sink) error {
	var rows [][]docxCell
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return r.wrapper(x, e, visit)
		}
		row, deleted, err := r.tableRow(x)
		if err == nil && !deleted && len(row) > 0 {
			rows = append(rows, row)
		}
		return err
	}
	if err := x.children(visit); err != nil {
		return err
	}
	columns := 0
	for _, row := range rows {
		n := 0
		for _, c := range row {
			n += c.span
		}
		columns = max(columns, n)
	}
	if columns == 1 {
		for _, row := range rows {
			for _, b := range row[0].blocks {
				out(b)
			}
		}
		return nil
	}
	b, ok, err := r.tableBlock(rows)
	if ok && err == nil {
		out(b)
	}
	return err
}

// tableRow reads a row; deleted reports that a tracked change takes it out.
func (r *docxReader) tableRow(x *xmlReader) (row []docxCell, deleted bool, err error) {
	columns := 0
	add := func(c docxCell) {
		c.span = min(max(c.span, 1), maxColumns)
		if columns += c.span; columns <= maxColumns {
			row = append(row, c)
		}
	}
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "trPr":
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "del":
					deleted = true
				case "gridBefore":
					if n := intAttr(e); n != nil && *n > 0 {
						add(docxCell{span: *n})
					}
				}
				return x.skip()
			})
		case "tc":
			c, err := r.tableCell(x)
			add(c)
			return err
		}
		return r.wrapper(x, e, visit)
	}
	err = x.children(visit)
	return row, deleted, err
}

func (r *docxReader) tableCell(x *xmlReader) (docxCell, error) {
	c := docxCell{span: 1}
	collect := func(b docxBlock) { c.blocks = append(c.blocks, b) }
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tcPr":
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "gridSpan":
					c.span, _ = strconv.Atoi(attrOf(e, "val"))
				case "vMerge":
					c.joined = attrOf(e, "val") != "restart"
				}
				return x.skip()
			})
		case "p":
			return r.paragraph(x, collect)
		case "tbl":
			return r.table(x, collect)
		}
		return r.wrapper(x, e, visit)
	}
	err := x.children(visit)
	return c, err
}

// tableBlock lays the rows out. Pictures in cells stand at the table's start.
func (r *docxReader) tableBlock(rows [][]docxCell) (docxBlock, bool, error) {
	var block docxBlock
	grid := make([][]string, len(rows))
	filled := false
	for i, row := range rows {
		for _, c := range row {
			column := len(grid[i])
			text := c.text()
			if c.joined && i > 0 && column < len(grid[i-1]) {
				text = grid[i-1][column]
			}
			grid[i] = append(grid[i], text)
			for range c.span - 1 {
				grid[i] = append(grid[i], "")
			}
			filled = filled || text != ""
			for _, b := range c.blocks {
				for _, p := range b.images {
					p.at = 0
					block.images = append(block.images, p)
				}
			}
		}
	}
	if err := r.pkg.table(grid); err != nil {
		return block, false, err
	}
	if filled {
		block.text, block.rows = mdtext.Table(grid), rows
	}
	block.pages = tablePages(rows, block.text)
	return block, filled || len(block.images) > 0 || len(block.pages) > 0, nil
}

// tablePages returns where in a table's text pages begin. Each row is a line, with the delimiter behind the first; a
// row that goes on over a page is marked in each of its cells.
func tablePages(rows [][]docxCell, text string) []int {
	var pages []int
	at := 0
	for i, row := range rows {
		breaks := 0
		for _, c := range row {
			n := 0
			for _, b := range c.blocks {
				n += len(b.pages)
			}
			breaks = max(breaks, n)
		}
		for range breaks {
			pages = append(pages, at)
		}
		lines := 1
		if i == 0 {
			lines = 2
		}
		for range lines {
			_, rest, _ := strings.Cut(text[at:], "\n")
			at = len(text) - len(rest)
		}
	}
	return pages
}
