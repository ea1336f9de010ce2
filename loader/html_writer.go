package loader

import (
	"strings"
)

// blockWriter lays blocks of text out as Markdown: a blank line between them, each line behind the marks of the
// lists and quotes that are open. The zero value is ready.
type blockWriter struct {
	out    strings.Builder
	indent string // before each line
	lead   string // before the next line in place of indent: holds a list item's marker
	led    bool   // lead is to be used
	around string // while led: what stands before the lines around the marks in lead
	tight  bool   // the next block follows without a blank line
}

// block writes text as a block of its own and returns where its first line starts. Empty text writes nothing and
// returns -1.
func (w *blockWriter) block(text string) int {
	if text == "" {
		return -1
	}
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
		if !w.tight {
			between := w.indent
			if w.led { // the blank line is not within what the marks begin
				between = w.around
			}
			w.out.WriteString(strings.TrimRight(between, " "))
			w.out.WriteByte('\n')
		}
	}
	start := w.out.Len()
	for i, line := range strings.Split(text, "\n") {
		prefix := w.indent
		switch {
		case i > 0:
			w.out.WriteByte('\n')
		case w.led:
			prefix = w.lead
		}
		if line == "" {
			prefix = strings.TrimRight(prefix, " ")
		}
		w.out.WriteString(prefix)
		w.out.WriteString(line)
	}
	w.led, w.tight = false, false
	return start
}

// maxIndent bounds the marks before a line: deeper lists and quotes stay at this depth, so that the text cannot
// grow beyond a multiple of the source.
const maxIndent = 32

// nest puts marker before the first line and further before the others of what body writes.
func (w *blockWriter) nest(marker, further string, body func()) {
	if len(w.indent)+len(further) > maxIndent {
		body()
		return
	}
	indent, lead, led := w.indent, w.lead, w.led
	first := indent
	if led {
		first = lead
	} else {
		w.around = indent
	}
	w.lead, w.led = first+marker, true
	w.indent += further
	body()
	if w.led { // nothing was written: what was owed before still is
		w.lead, w.led = lead, led
	}
	w.indent = indent
}

// text returns all that was written, ending with a line break.
func (w *blockWriter) text() string {
	if w.out.Len() == 0 {
		return ""
	}
	return w.out.String() + "\n"
}

// paragraph returns text with a backslash before what would make one of its lines a heading or a fence.
func paragraph(text string) string {
	if !strings.ContainsAny(text, "#`~") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}
