package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/loader" // DOCX and HTML
)

// parts are the pieces of structure that pandoc finds in a Word file, each as its words with blanks between.
type parts struct {
	headings, cells, items []string
	words                  []string // of the whole, in order
}

// compareDOCX prints how much of pandoc's structure our loader finds: every heading, table cell and list item.
func compareDOCX(ctx context.Context, b *bench) error {
	paths, err := b.files("docx", ".docx")
	if err != nil {
		return err
	}
	fmt.Println("| file | headings | table cells | list items | words | pandoc ms | ours: ratio |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var missing []string
	for _, p := range paths {
		name := filepath.Base(p)
		ref := command(ctx, b.rounds, "pandoc", "-f", "docx", "-t", "json", "--track-changes=accept", p)
		doc, loadErr := b.load(ctx, p)
		if ref.Error != "" || loadErr != nil {
			fmt.Printf("| %s | pandoc: %s | ours: %s | | | | |\n", name, errorText(ref.Error), errorWord(loadErr))
			continue
		}
		want, err := pandocParts(ref.Text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		headings, lost1 := found(want.headings, docHeadings(doc))
		cells, lost2 := found(want.cells, docCells(doc.Text))
		items, lost3 := found(want.items, docItems(doc.Text))
		for _, l := range [][]string{lost1, lost2, lost3} {
			for _, s := range l {
				missing = append(missing, name+": "+s)
			}
		}
		own := cpuOf(b.rounds, func() error { _, err := b.load(ctx, p); return err })
		fmt.Printf("| %s | %s | %s | %s | %.3f | %.0f | %.3f |\n", name, headings, cells, items, recall(want.words, words(doc.Text)), 1000*ref.CPU, own/ref.CPU)
	}
	for _, m := range missing {
		fmt.Printf("\nnot found: %.200s\n", m)
	}
	return nil
}

// errorText is an error of a program, short enough for a table.
func errorText(s string) string {
	return strings.ReplaceAll(fmt.Sprintf("%.40s", strings.TrimSpace(s)), "|", "/")
}

// found says how many of what is wanted is among got, each as often as it is wanted, and what is not.
func found(want, got []string) (share string, lost []string) {
	have := map[string]int{}
	for _, g := range got {
		have[g]++
	}
	for _, w := range want {
		if have[w] == 0 {
			lost = append(lost, w)
			continue
		}
		have[w]--
	}
	return fmt.Sprintf("%d of %d", len(want)-len(lost), len(want)), lost
}

func joined(text string) string { return strings.Join(words(text), " ") }

func docHeadings(doc rag.Document) []string {
	var out []string
	for _, s := range doc.Sections {
		out = append(out, joined(s.Title))
	}
	return out
}

// docCells returns the cells of all pipe tables.
func docCells(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00")
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			out = append(out, joined(cell))
		}
	}
	return out
}

// listMarker is what stands before an item.
var listMarker = regexp.MustCompile(`^ *(?:[-•]|\(?[\pL\d.]+[.)]?) +`)

// docItems returns the lines that may be list items, without and with their markers.
func docItems(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, joined(listMarker.ReplaceAllString(line, "")))
	}
	return out
}

// node is an element of pandoc's syntax tree.
type node struct {
	T string
	C json.RawMessage
}

// pandocParts walks pandoc's tree: {"t": "Header", "c": […]}.
func pandocParts(tree string) (parts, error) {
	var doc struct {
		Blocks json.RawMessage
		Meta   map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(tree), &doc); err != nil {
		return parts{}, err
	}
	var p parts
	for _, key := range []string{"title", "author"} { // pandoc takes paragraphs of these styles out of the text
		p.words = append(p.words, words(plain(doc.Meta[key]))...)
	}
	p.walk(doc.Blocks)
	p.words = append(p.words, words(plain(doc.Blocks))...)
	slices.Sort(p.words)
	return p, nil
}

func (p *parts) walk(raw json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			p.walk(e)
		}
		return
	}
	var n node
	if json.Unmarshal(raw, &n) != nil || n.T == "" {
		return
	}
	var c []json.RawMessage
	_ = json.Unmarshal(n.C, &c) // elements without content have none
	switch {
	case n.T == "Header" && len(c) == 3:
		p.add(&p.headings, c[2])
	case n.T == "BulletList":
		p.itemsOf(c)
	case n.T == "OrderedList" && len(c) == 2:
		_ = json.Unmarshal(c[1], &c)
		p.itemsOf(c)
	case n.T == "Table":
		p.cellsOf(n.C)
		return // lists within cells are part of the cell
	}
	p.walk(n.C)
}

func (p *parts) add(to *[]string, raw json.RawMessage) {
	if s := joined(plain(raw)); s != "" {
		*to = append(*to, s)
	}
}

// itemsOf takes the first paragraph of each item.
func (p *parts) itemsOf(items []json.RawMessage) {
	for _, item := range items {
		var blocks []json.RawMessage
		if json.Unmarshal(item, &blocks) == nil && len(blocks) > 0 {
			p.add(&p.items, blocks[0])
		}
	}
}

// cellsOf takes the cells of a table: [attributes, alignment, row span, column span, blocks], at any depth.
func (p *parts) cellsOf(raw json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	if len(list) == 5 && bytes.HasPrefix(bytes.TrimSpace(list[1]), []byte(`{"t":"Align`)) {
		p.add(&p.cells, list[4])
		return
	}
	for _, e := range list {
		p.cellsOf(e)
	}
}

// plain is the text of a part of the tree, with a line end behind each block.
func plain(raw json.RawMessage) string {
	var b strings.Builder
	var visit func(json.RawMessage)
	visit = func(raw json.RawMessage) {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, e := range list {
				visit(e)
			}
			return
		}
		var n node
		if json.Unmarshal(raw, &n) != nil {
			return
		}
		switch n.T {
		case "Str":
			var s string
			_ = json.Unmarshal(n.C, &s)
			b.WriteString(s)
		case "Space", "SoftBreak", "LineBreak":
			b.WriteByte(' ')
		case "Code", "CodeBlock", "Math":
			var c []json.RawMessage
			var s string
			if json.Unmarshal(n.C, &c) == nil && len(c) > 0 && json.Unmarshal(c[len(c)-1], &s) == nil {
				b.WriteString(s)
			}
		case "Note":
			b.WriteByte(' ')
			visit(n.C)
		case "Para", "Plain", "Header", "Table", "BulletList", "OrderedList":
			visit(n.C)
			b.WriteString("\n\n")
		default:
			visit(n.C)
		}
	}
	visit(raw)
	return b.String()
}
