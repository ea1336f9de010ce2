package transform

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// Tables is the transformer "tables": it puts a line for each table of a chunk into its Context, with the columns, the
// number of rows and what stands in the first column, since vectors of rows of figures say little of what they are about.
// A part of a table that has lost its header to another chunk gets the header of the document's table. It needs no
// settings and is safe for concurrent use.
type Tables struct{}

var (
	_ rag.Transformer   = Tables{}
	_ rag.Fingerprinter = Tables{}
)

// NewTables returns the transformer.
func NewTables() Tables { return Tables{} }

// Fingerprint names the version of the rules.
func (Tables) Fingerprint() string { return "tables/v1" }

// Transform describes the tables. Its error is that of ctx.
func (Tables) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := append([]rag.Chunk{}, chunks...)
	whole := sync.OnceValue(func() []table { return tablesIn(doc.Text) })
	for i := range out {
		c := &out[i]
		for _, t := range tablesIn(c.Text) {
			if t.header == nil {
				t.header = headerAt(whole(), c.Start+t.start)
			}
			c.Context = joinLines(c.Context, t.describe())
		}
	}
	return out, nil
}

// table is a Markdown table, or the part of one that a chunk holds.
type table struct {
	start  int      // byte offset of its first line
	end    int      // and of what follows its last one
	header []string // nil if the header stands elsewhere
	first  []string // cells of the first column
	rows   int
}

// tablesIn finds the tables of a text: runs of lines that begin with a pipe.
func tablesIn(text string) []table {
	var all []table
	var lines []string
	start, at := 0, 0
	flush := func() {
		if len(lines) > 0 {
			all = append(all, newTable(start, at, lines))
		}
		lines = nil
	}
	for line := range strings.Lines(text) {
		if isRow(line) {
			if len(lines) == 0 {
				start = at
			}
			lines = append(lines, line)
		} else {
			flush()
		}
		at += len(line)
	}
	flush()
	return all
}

func isRow(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "|") }

func newTable(start, end int, lines []string) table {
	t := table{start: start, end: end}
	if len(lines) > 1 && isRule(lines[1]) {
		t.header, lines = cells(lines[0]), lines[2:]
	}
	for _, line := range lines {
		if isRule(line) {
			continue
		}
		t.rows++
		if row := cells(line); len(row) > 0 && row[0] != "" {
			t.first = append(t.first, row[0])
		}
	}
	return t
}

// isRule reports whether a line is the one below a header: | --- | :-: |
func isRule(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|:- \n") == ""
}

// cells returns the cells of a row; an escaped pipe is text.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00")
	var all []string
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		all = append(all, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
	}
	return all
}

// headerAt returns the header of the table, of those of the whole text, that the offset lies in; nil if there is none.
func headerAt(tables []table, offset int) []string {
	i := sort.Search(len(tables), func(i int) bool { return tables[i].start > offset })
	if i == 0 || offset >= tables[i-1].end {
		return nil
	}
	return tables[i-1].header
}

// Longest parts of a description.
const (
	mostColumns  = 12
	mostFirst    = 8
	longestTable = 300
)

// describe returns one line: "Table of 12 rows with the columns Name, Price. Rows: Apples, Pears, …".
func (t table) describe() string {
	var b strings.Builder
	rows := "1 row"
	if t.rows != 1 {
		rows = fmt.Sprintf("%d rows", t.rows)
	}
	fmt.Fprintf(&b, "Table of %s", rows)
	if named := some(t.header, mostColumns); named != "" {
		fmt.Fprintf(&b, " with the columns %s", named)
	}
	if first := some(t.first, mostFirst); first != "" {
		fmt.Fprintf(&b, ". Rows: %s", first)
	}
	return oneLine(b.String(), longestTable)
}

// some joins up to so many of the texts that are not empty.
func some(texts []string, most int) string {
	var all []string
	for _, s := range texts {
		if s == "" {
			continue
		}
		if len(all) == most {
			all = append(all, omitted)
			break
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}
