package cli

import (
	"fmt"
	"maps"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// document is what a loader yields, as load and show print it.
type document struct {
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Language string    `json:"language"`
	Text     string    `json:"text"`
	Sections []section `json:"sections"`
	Pages    []int     `json:"pages"`
	Images   []picture `json:"images"`
	Warnings []warning `json:"warnings"`
	Meta     rag.Meta  `json:"meta"`
}

type section struct {
	Level int    `json:"level"`
	Title string `json:"title"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type warning struct {
	Page    *int   `json:"page"`
	Message string `json:"message"`
}

func toDocument(d *rag.Document) document {
	out := document{
		Title: d.Title, State: d.State, Language: d.Language, Text: d.Text, Sections: []section{}, Images: toPictures(d.Images, nil, nil),
		Pages: append([]int{}, d.Pages...), Warnings: warnings(d.Warnings), Meta: meta(d.Meta),
	}
	for _, s := range d.Sections {
		out.Sections = append(out.Sections, section(s))
	}
	return out
}

// page returns null for a format without pages.
func page(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// warnings returns a list that is never null.
func warnings(ws []rag.Warning) []warning {
	out := make([]warning, len(ws))
	for i, w := range ws {
		out[i] = warning{page(w.Page), w.Message}
	}
	return out
}

// meta returns an object that is never null.
func meta(m rag.Meta) rag.Meta {
	if m == nil {
		return rag.Meta{}
	}
	return m
}

// printDocument writes a document's head and outline for a reader.
func (a *app) printDocument(name string, d *rag.Document) {
	p := a.paint(a.out)
	fmt.Fprintln(a.out, p.cyan(name))
	if d.Title != "" {
		fmt.Fprintf(a.out, "%s %s\n", p.bold("title:"), oneLine(d.Title, a.width()))
	}
	facts := []string{d.State, size(int64(len(d.Text))) + " of text"}
	if d.Language != "" {
		facts = append(facts, "language "+visible(d.Language))
	}
	if len(d.Pages) > 0 {
		facts = append(facts, count(len(d.Pages), "page"))
	}
	if len(d.Images) > 0 {
		facts = append(facts, count(len(d.Images), "picture"))
	}
	fmt.Fprintf(a.out, "%s %s\n", p.bold("state:"), strings.Join(facts, " · "))
	a.printMeta(without(d.Meta, rag.FieldTitle, d.Title))
	for _, w := range d.Warnings {
		fmt.Fprintf(a.out, "%s %s\n", p.yellow("warning:"), visible(w.String()))
	}
	if len(d.Sections) > 0 {
		fmt.Fprintln(a.out, p.bold("outline"))
	}
	for _, s := range d.Sections {
		line := strings.Repeat("  ", max(s.Level, 1)) + oneLine(s.Title, a.width())
		if n := d.Page(s.Start); n > 0 {
			line += p.dim(fmt.Sprintf(" · page %d", n))
		}
		fmt.Fprintln(a.out, line)
	}
}

// without is metadata without a field of this value, which is shown already.
func without(m rag.Meta, field, value string) rag.Meta {
	if m[field] != value {
		return m
	}
	m = maps.Clone(m)
	delete(m, field)
	return m
}
