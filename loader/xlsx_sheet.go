package loader

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Size of a sheet in Excel: cells beyond are not in the file by any rule.
const (
	maxSheetRows    = 1 << 20
	maxSheetColumns = 1 << 14
)

// maxSheetCells bounds the cells of one sheet that hold something: each takes some 200 bytes while the sheet is laid
// out.
const maxSheetCells = 2 << 20

// xlsxGrid is a sheet: its cells that are not empty, row by row.
type xlsxGrid struct {
	workbook *xlsxReader
	rows     []xlsxRow
	merged   [][4]int // first row, first column, last row, last column; 0-based
	cells    int
}

type xlsxRow struct {
	index int // 0-based, ascending
	cells map[int]string
}

// read reads a sheet's part.
func (g *xlsxGrid) read(x *xmlReader, _ xml.StartElement) error {
	return x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sheetData":
			next := 0
			return x.children(func(e xml.StartElement) error {
				if e.Name.Local != "row" {
					return x.skip()
				}
				index := next
				if n, err := strconv.Atoi(attrOf(e, "r")); err == nil && n > next && n <= maxSheetRows {
					index = n - 1
				}
				next = index + 1
				return g.row(x, index)
			})
		case "mergeCells":
			return x.children(func(e xml.StartElement) error {
				if area, ok := cellArea(attrOf(e, "ref")); ok && len(g.merged) < maxSheetCells {
					g.merged = append(g.merged, area)
				}
				return x.skip()
			})
		}
		return x.skip()
	})
}

// row reads one row and keeps it if it says something.
func (g *xlsxGrid) row(x *xmlReader, index int) error {
	row := xlsxRow{index: index, cells: map[int]string{}}
	next := 0
	err := x.children(func(e xml.StartElement) error {
		if e.Name.Local != "c" {
			return x.skip()
		}
		column := next
		if _, c, ok := cellPlace(attrOf(e, "r")); ok {
			column = c
		}
		next = column + 1
		text, err := g.cell(x, e)
		if text = mdtext.Line(text); text != "" && column < maxSheetColumns {
			row.cells[column] = text
			g.cells++
			if err == nil {
				err = g.workbook.pkg.count(len(text))
			}
		}
		return err
	})
	if g.cells > maxSheetCells {
		return fmt.Errorf("more than %d cells in a sheet: cut it into parts: %w", maxSheetCells, rag.ErrInvalid)
	}
	if len(row.cells) > 0 {
		g.rows = append(g.rows, row)
	}
	return err
}

// cell returns the text of a cell.
func (g *xlsxGrid) cell(x *xmlReader, e xml.StartElement) (string, error) {
	kind, style := attrOf(e, "t"), attrOf(e, "s")
	value, inline, formula := "", "", false
	err := x.children(func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "f":
			formula = true
		case "v":
			value, err = x.text()
			return err
		case "is":
			inline, err = richText(x)
			return err
		}
		return x.skip()
	})
	if formula && value == "" && kind != "str" {
		g.workbook.warnings.add("formulas without a stored result are left empty: save the file in a spreadsheet program")
	}
	switch kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(g.workbook.strings) {
			return g.workbook.strings[i], nil
		}
		return "", err
	case "inlineStr":
		return inline, err
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[strings.TrimSpace(value)], err
	case "str", "e", "d":
		return unescapeXstring(value), err
	}
	format := cellFormat{}
	if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(g.workbook.formats) {
		format = g.workbook.formats[i]
	}
	return format.show(strings.TrimSpace(value), g.workbook.date1904), err
}

// write writes the runs of rows that follow one another as tables. Rows of one cell above wider ones are paragraphs:
// captions.
func (g *xlsxGrid) write(out *blockWriter) error {
	single := map[int]bool{} // rows of one cell, before merged cells fill them
	for i, row := range g.rows {
		single[i] = len(row.cells) == 1
	}
	if err := g.fillMerged(); err != nil {
		return err
	}
	for start := 0; start < len(g.rows); {
		end := start + 1
		for end < len(g.rows) && g.rows[end].index == g.rows[end-1].index+1 {
			end++
		}
		wide := false
		for i := start; i < end; i++ {
			wide = wide || !single[i]
		}
		for start < end && single[start] && (wide || start+1 == end) {
			out.block(paragraph(g.rows[start].cells[columnsOf(g.rows[start : start+1])[0]]))
			start++
		}
		if start == end {
			continue
		}
		columns := columnsOf(g.rows[start:end])
		if len(columns)*(end-start) > maxSheetCells {
			return fmt.Errorf("a table of %d rows and %d columns is too large: %w", end-start, len(columns), rag.ErrInvalid)
		}
		if err := g.workbook.pkg.count(len(columns) * (end - start) * len(" | ")); err != nil { // the cells are counted
			return err
		}
		table := make([][]string, 0, end-start)
		for _, row := range g.rows[start:end] {
			line := make([]string, len(columns))
			for i, c := range columns {
				line[i] = row.cells[c]
			}
			table = append(table, line)
		}
		out.block(mdtext.Tables(table))
		start = end
	}
	return nil
}

// columnsOf returns the columns in which a row has something, ascending.
func columnsOf(rows []xlsxRow) []int {
	used := map[int]bool{}
	for _, row := range rows {
		for c := range row.cells {
			used[c] = true
		}
	}
	columns := make([]int, 0, len(used))
	for c := range used {
		columns = append(columns, c)
	}
	slices.Sort(columns)
	return columns
}

// fillMerged writes a merged cell's text into each place that it spans, within the rows and columns that hold
// something. A long text is not repeated.
func (g *xlsxGrid) fillMerged() error {
	used := columnsOf(g.rows)
	visited := 0 // areas that overlap break the rules, and could take long
	for _, area := range g.merged {
		first, ok := slices.BinarySearchFunc(g.rows, area[0], func(r xlsxRow, i int) int { return r.index - i })
		if !ok {
			continue
		}
		text := g.rows[first].cells[area[1]]
		if text == "" || len(text) > maxRepeated {
			continue
		}
		left, _ := slices.BinarySearch(used, area[1])
		for i := first; i < len(g.rows) && g.rows[i].index <= area[2]; i++ {
			for c := left; c < len(used) && used[c] <= area[3]; c++ {
				if visited++; visited > maxSheetCells {
					return nil
				}
				if g.rows[i].cells[used[c]] == "" {
					g.rows[i].cells[used[c]] = text
					if err := g.workbook.pkg.count(len(text)); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// cellPlace reads "BC12": row 11, column 54.
func cellPlace(ref string) (row, column int, ok bool) {
	i := 0
	for ; i < len(ref) && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		if column = column*26 + int(ref[i]-'A') + 1; column > maxSheetColumns {
			return 0, 0, false
		}
	}
	row, err := strconv.Atoi(ref[i:])
	if err != nil || i == 0 || row < 1 || row > maxSheetRows {
		return 0, 0, false
	}
	return row - 1, column - 1, true
}

// cellArea reads "A1:C3".
func cellArea(ref string) (area [4]int, ok bool) {
	from, to, found := strings.Cut(ref, ":")
	if !found {
		return area, false
	}
	var ok1, ok2 bool
	area[0], area[1], ok1 = cellPlace(from)
	area[2], area[3], ok2 = cellPlace(to)
	return area, ok1 && ok2
}

// escapedChar is how the format writes characters that XML does not allow: _x000D_.
var escapedChar = regexp.MustCompile(`_x([0-9A-Fa-f]{4})_`)

// unescapeXstring turns escaped characters into blanks if they are white space or controls, else into themselves.
func unescapeXstring(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	return escapedChar.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[2:6], 16, 16)
		if n <= ' ' || n >= 0xD800 && n < 0xE000 {
			return " "
		}
		return string(rune(n))
	})
}
