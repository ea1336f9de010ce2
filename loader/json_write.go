package loader

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Bounds of sections: how deep objects are sections, those within being lists, and how many elements of an array are.
const (
	maxJSONHeading  = 4
	maxJSONSections = 10_000
)

// jsonWriter lays a JSON value out as Markdown.
type jsonWriter struct {
	out      blockWriter
	headings []heading
}

// value writes a named value; level is the number of sections it stands in. The name is "" for the outermost.
func (w *jsonWriter) value(name string, v jsonValue, level int) {
	switch {
	case v.flat():
		w.flat(name, v)
	case len(v.items) == 0:
	case level >= maxJSONHeading:
		w.item(name, v)
	default:
		if name != "" {
			level++
			w.heading(level, name)
		}
		w.content(v, level)
	}
}

// content writes what a value holds: flat fields first, since what follows a heading belongs to it.
func (w *jsonWriter) content(v jsonValue, level int) {
	if v.kind == jsonArray {
		w.array(v, level)
		return
	}
	first := true
	for _, flat := range []bool{true, false} {
		for i, name := range v.names {
			if v.items[i].flat() != flat {
				continue
			}
			if flat {
				w.out.tight = !first
				first = false
			}
			w.value(firstOf(name, "-"), v.items[i], level)
		}
	}
}

// heading writes a heading and opens its section.
func (w *jsonWriter) heading(level int, title string) {
	title = mdtext.Line(mdtext.Cut(title, maxTitle))
	if title == "" {
		return
	}
	start := w.out.block(strings.Repeat("#", level) + " " + title)
	w.headings = append(w.headings, heading{level, title, start})
}

// flat writes "name: value", with a text of several lines as a block of its own.
func (w *jsonWriter) flat(name string, v jsonValue) {
	text := strings.Trim(normalise(v.text), "\n")
	if name != "" {
		name = mdtext.Line(name) + ": "
	}
	switch {
	case text == "" && v.kind == jsonScalar: // null says nothing
	case strings.Contains(text, "\n"):
		w.out.block(strings.TrimSpace(name))
		w.out.block(paragraph(text))
	default:
		w.out.block(paragraph(name + text))
	}
}

// array writes a table of flat objects, a list of flat values, or each element by itself.
func (w *jsonWriter) array(v jsonValue, level int) {
	if rows := tableOf(v); rows != nil {
		w.out.block(mdtext.Tables(rows))
		return
	}
	for i, item := range v.items {
		if item.flat() || level >= maxJSONHeading || len(v.items) > maxJSONSections {
			w.out.tight = i > 0
			w.item("", item)
			continue
		}
		title := field(item, "", append(titleFields, "id", "key"))
		label, _ := item.field(title)
		w.heading(level+1, firstOf(mdtext.Line(label.text), strconv.Itoa(i+1)))
		w.content(item, level+1)
	}
}

// item writes a value as an item of a list, with what it holds on one line.
func (w *jsonWriter) item(name string, v jsonValue) {
	if name != "" {
		name = mdtext.Line(name) + ": "
	}
	var b strings.Builder
	oneLineJSON(&b, v)
	if text := mdtext.Line(normalise(b.String())); text != "" {
		w.out.nest("- ", "  ", func() { w.out.block(paragraph(name + text)) })
	}
}

// oneLineJSON writes a value on one line: the fields of an object and the elements of an array with separators between.
func oneLineJSON(b *strings.Builder, v jsonValue) {
	if v.flat() {
		b.WriteString(v.text)
		return
	}
	for i, item := range v.items {
		if i > 0 {
			b.WriteString("; ")
		}
		if v.kind == jsonObject {
			b.WriteString(v.names[i] + ": ")
		}
		oneLineJSON(b, item)
	}
}

// tableOf returns an array of two or more flat objects as rows, the names of all fields being the header; nil if it is
// none, or a table would be too large.
func tableOf(v jsonValue) [][]string {
	const least = 2
	var header []string
	known := map[string]int{}
	for _, item := range v.items {
		if item.kind != jsonObject || slices.ContainsFunc(item.items, func(f jsonValue) bool { return !f.flat() }) {
			return nil
		}
		for _, name := range item.names {
			if _, ok := known[name]; !ok {
				known[name] = len(header)
				header = append(header, name)
			}
		}
	}
	if len(v.items) < least || len(header) == 0 || len(header)*len(v.items) > maxTableCells {
		return nil
	}
	rows := [][]string{header}
	for _, item := range v.items {
		row := make([]string, len(header))
		for i, name := range item.names {
			row[known[name]] = normalise(item.items[i].text)
		}
		rows = append(rows, row)
	}
	return rows
}
