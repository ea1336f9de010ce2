package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// shapeFlags say how ranked passages are made into hits. What is not given is the configuration's.
type shapeFlags struct {
	diversity   float64
	perDocument int
	collapse    float64
	neighbours  int
	parent      bool
	highlight   bool
}

// addRanking adds the flags that decide which passages are hits.
func (f *shapeFlags) addRanking(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Float64Var(&f.diversity, "diversity", 0, "put passages first that are unlike better ones, 0 to 1; 0.3 is a beginning")
	flags.IntVar(&f.perDocument, "max-per-document", 0, "most passages of one document; 0: any number")
	flags.Float64Var(&f.collapse, "collapse", 0, "leave out passages that share this part of their phrases with a better one, 0 to 1; 0.9: near-duplicates, 1: the same words")
}

// addAround adds the flags for what is given with a hit.
func (f *shapeFlags) addAround(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.neighbours, "neighbours", 0, "give so many passages from before and behind each with it")
	flags.BoolVar(&f.parent, "parent", false, "give the section that a passage stands in")
}

// addHighlight adds the flag for how hits are shown.
func (f *shapeFlags) addHighlight(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.highlight, "highlight", true, "mark the words of the question, on a terminal; --highlight=false does not")
}

// into puts what was given into the query.
func (f *shapeFlags) into(q *rag.Query, cmd *cobra.Command) {
	given := cmd.Flags().Changed
	if given("diversity") {
		q.Diversity = &f.diversity
	}
	if given("max-per-document") {
		q.MaxPerDocument = &f.perDocument
	}
	if given("collapse") {
		q.Collapse = &f.collapse
	}
	if given("neighbours") {
		q.Neighbours = &f.neighbours
	}
	if given("parent") {
		q.Parent = &f.parent
	}
	if given("highlight") {
		q.Highlight = &f.highlight
	}
}

// printAround writes what is given with a hit: a line for each neighbour and for the section, or all of them.
func (a *app) printAround(h *rag.Hit, indent string, full bool) {
	p := a.paint(a.out)
	show := func(sign, text string) {
		lines := []string{oneLine(text, a.width()-len(indent)-2)}
		if full {
			lines = wrap(strings.Trim(visibleText(text), "\n"), a.width()-len(indent)-2)
		}
		for _, line := range lines {
			fmt.Fprintf(a.out, "%s%s\n", indent, p.dim(sign+" "+line))
		}
	}
	for _, c := range h.Before {
		show("↑", c.Text)
	}
	for _, c := range h.After {
		show("↓", c.Text)
	}
	if h.Parent != nil && h.Parent.Text != "" {
		show("§", h.Parent.Text)
	}
	if len(h.Duplicates) > 0 {
		places := make([]string, len(h.Duplicates))
		for i, d := range h.Duplicates {
			places[i] = place(d.URI)
		}
		show("≈", strings.Join(places, ", "))
	}
}

// markedLines wraps a text to lines in which the ranges are bold.
func (a *app) markedLines(text string, ranges []rag.TextRange, width int) []string {
	shown, marks := visibleRanges(text, ranges)
	lines := wrap(strings.Trim(shown, "\n"), width)
	p := a.paint(a.out)
	if !p.on {
		return lines
	}
	at := 0 // between the lines there are blanks and line ends only
	for i, line := range lines {
		at += max(0, strings.Index(shown[at:], line))
		lines[i] = p.boldRanges(line, at, marks)
		at += len(line)
	}
	return lines
}

// visibleRanges is visibleText for a text with ranges, which it returns as they are in the visible text.
func visibleRanges(text string, ranges []rag.TextRange) (string, []rag.TextRange) {
	var b strings.Builder
	marks := make([]rag.TextRange, len(ranges))
	at := 0
	for i, r := range ranges {
		b.WriteString(visibleText(text[at:r.Start]))
		marks[i].Start = b.Len()
		b.WriteString(visibleText(text[r.Start:r.End]))
		marks[i].End = b.Len()
		at = r.End
	}
	b.WriteString(visibleText(text[at:]))
	return b.String(), marks
}

// boldRanges makes the parts of a line bold that lie in the ranges of a text; the line begins at an offset of it.
func (p paint) boldRanges(line string, at int, ranges []rag.TextRange) string {
	var b strings.Builder
	done := 0
	for _, r := range ranges {
		start, end := max(r.Start-at, done), min(r.End-at, len(line))
		if start < end {
			b.WriteString(line[done:start] + p.bold(line[start:end]))
			done = end
		}
	}
	return b.String() + line[done:]
}
