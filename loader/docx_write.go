package loader

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// docxWriter puts blocks one below the other.
type docxWriter struct {
	b        strings.Builder
	headings []heading
	images   []rag.Image
	pages    []int    // where pages after the first begin
	list     bool     // the last block was a list item
	code     []string // lines of program text that are not written yet
}

// add writes a block: lines of program text together in a fence, items of a list on lines of their own, all else with an
// empty line before.
func (w *docxWriter) add(b docxBlock) {
	if b.code && len(b.images)+len(b.pages) == 0 {
		w.code = append(w.code, b.text)
		return
	}
	w.flushCode()
	if b.code && b.text != "" {
		b.text = mdtext.Fence("", b.text)
	}
	w.put(b)
}

// flushCode writes the program text read so far.
func (w *docxWriter) flushCode() {
	if code := strings.Trim(strings.Join(w.code, "\n"), "\n"); code != "" {
		w.put(docxBlock{text: mdtext.Fence("", code)})
	}
	w.code = nil
}

func (w *docxWriter) put(b docxBlock) {
	if b.text != "" && w.b.Len() > 0 {
		w.b.WriteByte('\n')
		if !b.list || !w.list {
			w.b.WriteByte('\n')
		}
	}
	start := w.b.Len()
	if b.level > 0 {
		w.headings = append(w.headings, heading{level: b.level, title: b.text, start: start})
	}
	if b.text != "" {
		w.b.WriteString(b.prefix + b.text)
		w.list = b.list
	}
	for _, at := range b.pages {
		if at > 0 {
			at += len(b.prefix)
		}
		w.pages = append(w.pages, start+at)
	}
	for _, p := range b.images {
		img := *p.image
		img.Alt = p.alt
		img.Offset = min(start+len(b.prefix)+p.at, w.b.Len())
		if b.text == "" {
			img.Offset = start
		}
		w.images = append(w.images, img)
	}
}

// document is what was written.
func (w *docxWriter) document() rag.Document {
	w.flushCode()
	text := w.b.String()
	if text != "" {
		text += "\n"
	}
	doc := rag.Document{Text: text, Sections: sections(w.headings, len(text)), Images: w.images}
	if len(w.pages) > 0 {
		doc.Pages = []int{0}
		for _, at := range w.pages {
			doc.Pages = append(doc.Pages, max(runeStart(text, at), doc.Pages[len(doc.Pages)-1]))
		}
	}
	for i := range doc.Images { // a heading's blanks may have moved its characters
		img := &doc.Images[i]
		img.Offset = runeStart(text, img.Offset)
		img.Page = doc.Page(img.Offset)
	}
	return doc
}

// runeStart returns the nearest place at or before the offset where a character of text begins.
func runeStart(text string, offset int) int {
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset--
	}
	return min(offset, len(text))
}

// checkPages says so where the marks of pages make another number than the one Word noted.
func (r *docxReader) checkPages(pages int) error {
	rels, err := r.pkg.relations("")
	if err != nil || pages == 0 {
		return err
	}
	return r.pkg.read(related(rels, "extended-properties"), func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			if e.Name.Local != "Pages" {
				return x.skip()
			}
			s, err := x.text()
			if n, nerr := strconv.Atoi(strings.TrimSpace(s)); nerr == nil && n > 0 && n != pages {
				r.warnings.add(fmt.Sprintf("page numbers are approximate: Word counted %d, its marks make %d", n, pages))
			}
			return err
		})
	})
}

// readNotes reads the foot- and endnotes, and the comments if they are asked for.
func (r *docxReader) readNotes() error {
	r.notes = map[string]string{}
	kinds := []string{"footnote", "endnote"}
	if r.cfg.Comments {
		kinds = append(kinds, "comment")
	}
	for _, kind := range kinds {
		err := r.pkg.read(related(r.rels, kind+"s"), func(x *xmlReader, _ xml.StartElement) error {
			return x.children(func(e xml.StartElement) error {
				if t := attrOf(e, "type"); e.Name.Local != kind || t != "" && t != "normal" {
					return x.skip() // the line above the notes
				}
				var c docxCell
				err := r.body(x, func(b docxBlock) { c.blocks = append(c.blocks, b) })
				text := c.text()
				if author := mdtext.Line(attrOf(e, "author")); author != "" && text != "" {
					text = author + ": " + text
				}
				r.notes[kind+attrOf(e, "id")] = text
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cite writes the number of a note or comment, counted in the order of the text.
func (r *docxReader) cite(in *docxInline, cited *[]string, kind, id string) {
	key := kind + id
	if r.notes[key] == "" || r.inInstruction() {
		return
	}
	i := slices.Index(*cited, key)
	if i < 0 {
		i = len(*cited)
		*cited = append(*cited, key)
	}
	r.write(in, "["+r.mark(cited, i)+"]")
}

// mark is the label of the i-th note, or comment.
func (r *docxReader) mark(cited *[]string, i int) string {
	if cited == &r.remarks {
		return "^c" + strconv.Itoa(i+1)
	}
	return "^" + strconv.Itoa(i+1)
}

// writeNotes writes the notes and comments that the text refers to.
func (r *docxReader) writeNotes() {
	if r.joined != nil { // the last paragraph's end was deleted, and nothing followed
		if b, ok := r.block(paragraphProps{}, r.joined); ok {
			r.out.add(b)
		}
	}
	for _, cited := range []*[]string{&r.cited, &r.remarks} {
		for i, key := range *cited {
			r.out.add(docxBlock{prefix: "[" + r.mark(cited, i) + "]: ", text: r.notes[key], list: true})
		}
	}
}
