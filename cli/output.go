package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// printJSON prints the one object of a run with --json.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// present prints the result of a run: as one object with --json, else as tell does for a reader.
func (a *app) present(result any, tell func()) error {
	if a.json {
		return a.printJSON(result)
	}
	tell()
	return nil
}

// terminal returns the file behind a stream if it is a terminal.
func terminal(stream any) (*os.File, bool) {
	if h, ok := stream.(hiding); ok {
		stream = h.to
	}
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Widths of human output in columns, where the terminal does not say or is very wide.
const (
	defaultWidth = 100
	minWidth     = 40
	maxWidth     = 120 // longer lines are hard to read
)

// width returns the columns that output may use.
func (a *app) width() int {
	if f, ok := terminal(a.out); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return max(minWidth, min(w, maxWidth))
		}
	}
	return defaultWidth
}

// paint colours text, or leaves it alone.
type paint struct{ on bool }

// paint returns the colours for a stream: none unless it is a terminal, nor where the user wants none.
func (a *app) paint(w io.Writer) paint {
	_, tty := terminal(w)
	return paint{tty && !a.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (p paint) with(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) red(s string) string    { return p.with("31", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) cyan(s string) string   { return p.with("36", s) }

// table is text in columns. Cells must be visible already.
type table struct {
	head  []string
	rows  [][]string
	right map[int]bool // columns of numbers
}

func newTable(head ...string) *table { return &table{head: head, right: map[int]bool{}} }

// numbers sets columns, 0-based, to the right.
func (t *table) numbers(columns ...int) *table {
	for _, c := range columns {
		t.right[c] = true
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table, each line after the indent.
func (t *table) print(w io.Writer, p paint, indent string) {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	line := func(row []string) string {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell))
			if t.right[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(cell)
		}
		return strings.TrimRight(b.String(), " ")
	}
	fmt.Fprintf(w, "%s%s\n", indent, p.bold(line(t.head)))
	for _, row := range t.rows {
		fmt.Fprintf(w, "%s%s\n", indent, line(row))
	}
}

// count returns "1 file", "2 files", and so on.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// size shows a number of bytes.
func size(n int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n < kib:
		return fmt.Sprintf("%d B", n)
	case n < mib:
		return fmt.Sprintf("%.1f KiB", float64(n)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/mib)
}

// when shows a time to the minute, where the user is; "" if it is zero.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
