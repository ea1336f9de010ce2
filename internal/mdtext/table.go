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

// Sizes of the parts of a long table: about what a chunk holds, but so much more than the header, which each repeats.
const (
	partBytes   = 1200
	partHeaders = 4
)

// Tables returns rows as pipe tables of about the size of a chunk, each with the header, which is the first row: a part
// of a long table makes sense by itself. A short table stays whole.
func Tables(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var parts []string
	header, start, size := rows[0], 1, 0
	most := max(partBytes, partHeaders*rowBytes(header))
	for i, row := range rows[1:] {
		bytes := rowBytes(row)
		if size += bytes; size > most && i+1 > start {
			parts = append(parts, Table(append([][]string{header}, rows[start:i+1]...)))
			start, size = i+1, bytes
		}
	}
	return strings.Join(append(parts, Table(append([][]string{header}, rows[start:]...))), "\n\n")
}

func rowBytes(row []string) int {
	n := len("|\n")
	for _, cell := range row {
		n += len(cell) + len(" | ")
	}
	return n
}

// Cell returns text as the content of one table cell: on one line, pipes escaped.
func Cell(text string) string {
	return strings.ReplaceAll(Line(text), "|", `\|`)
}
