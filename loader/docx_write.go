package loader

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// docxWriter puts blocks one below the other.
type docxWriter struct {
	b        strings.Builder
	headings []heading
	images   []rag.Image
	list     bool // the last block was a list item
}

// add writes a block: items of a list on lines of their own, all else with an empty line before.
func (w *docxWriter) add(b docxBlock) {
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
	text := w.b.String()
	if text != "" {
		text += "\n"
	}
	for i := range w.images { // a heading's blanks may have moved its characters
		for w.images[i].Offset > 0 && w.images[i].Offset < len(text) && text[w.images[i].Offset]&0xC0 == 0x80 {
			w.images[i].Offset--
		}
	}
	return rag.Document{Text: text, Sections: sections(w.headings, len(text)), Images: w.images}
}

// readNotes reads the foot- and endnotes.
func (r *docxReader) readNotes() error {
	r.notes = map[string]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		part := related(r.rels, kind+"s")
		if part == "" {
			continue
		}
		err := r.pkg.read(part, func(x *xmlReader, _ xml.StartElement) error {
			return x.children(func(e xml.StartElement) error {
				if t := attrOf(e, "type"); e.Name.Local != kind || t != "" && t != "normal" {
					return x.skip() // the line above the notes
				}
				var c docxCell
				err := r.body(x, func(b docxBlock) { c.blocks = append(c.blocks, b) })
				r.notes[kind+attrOf(e, "id")] = c.text()
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cite writes the number of a note, counted in the order of the text.
func (r *docxReader) cite(in *docxInline, kind, id string) {
	key := kind + id
	if r.notes[key] == "" || slices.Contains(r.fields, true) {
		return
	}
	i := slices.Index(r.cited, key)
	if i < 0 {
		i = len(r.cited)
		r.cited = append(r.cited, key)
	}
	r.write(in, "[^"+strconv.Itoa(i+1)+"]")
}

// writeNotes writes the notes that the text refers to.
func (r *docxReader) writeNotes() {
	for i, key := range r.cited {
		r.out.add(docxBlock{prefix: fmt.Sprintf("[^%d]: ", i+1), text: r.notes[key], list: true})
	}
}
