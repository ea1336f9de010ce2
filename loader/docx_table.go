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

func (c docxCell) text() string {
	parts := make([]string, len(c.blocks))
	for i, b := range c.blocks {
		parts[i] = strings.TrimSpace(b.prefix) + " " + b.text
		if b.level > 0 {
			parts[i] = b.text
		}
	}
	return mdtext.Line(strings.Join(parts, " "))
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
	if b, ok := tableBlock(rows); ok {
		out(b)
	}
	return nil
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
func tableBlock(rows [][]docxCell) (docxBlock, bool) {
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
	if filled {
		block.text = mdtext.Table(grid)
	}
	return block, filled || len(block.images) > 0
}
