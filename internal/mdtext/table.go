package mdtext

import "strings"

// Table returns rows as a GitHub pipe table, the first row being the header, without a line break at the end. Short
// rows are padded; cells are put on one line and their pipes escaped. No rows give "".
func Table(rows [][]string) string {
	cols := 0
	for _, row := range rows {
		cols = max(cols, len(row))
	}
	if cols == 0 {
		return ""
	}
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte('|')
		for c := range cols {
			cell := ""
			if c < len(row) {
				cell = Cell(row[c])
			}
			b.WriteString(" " + cell + " |")
		}
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat(" --- |", cols))
		}
	}
	return b.String()
}

// Cell returns text as the content of one table cell: on one line, pipes escaped.
func Cell(text string) string {
	return strings.ReplaceAll(Line(text), "|", `\|`)
}
