package unipdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image/png"
	"strings"
	"time"
	"unicode"

	"github.com/unidoc/unipdf/v3/core"
	"github.com/unidoc/unipdf/v3/extractor"
	"github.com/unidoc/unipdf/v3/model"

	"github.com/seed-d8745b77/rag"
)

// Pictures that are smaller are decoration: rules, bullets, spacers.
const (
	leastPixels = 16   // of a side
	leastSide   = 18.0 // of a side on the page, in points
)

// file is what unipdf tells of a file.
type file struct {
	total   int // pages in the file
	pages   []page
	outline []entry
	info    rag.Meta // of a kind that metadata has; the title is "title"
}

type page struct {
	text   string
	images []rag.Image
	lost   []string // what of the page could not be read
}

// entry is one bookmark.
type entry struct {
	title string
	level int // 1 is outermost
	page  int // 0-based
}

// add keeps a picture that is no decoration, as a PNG.
func (p *page) add(m extractor.ImageMark) error {
	if m.Image == nil {
		return errNoPicture
	}
	if min(m.Image.Width, m.Image.Height) < leastPixels || min(m.Width, m.Height) < leastSide {
		return nil
	}
	img, err := m.Image.ToGoImage()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	p.images = append(p.images, rag.Image{
		ID: hex.EncodeToString(sum[:]), MediaType: "image/png", Data: b.Bytes(), Box: [4]float64{m.X, m.Y, m.X + m.Width, m.Y + m.Height},
	})
	return nil
}

// document puts the pages one below the other.
func (f *file) document() rag.Document {
	doc := rag.Document{Meta: rag.Meta{"pages": float64(f.total)}, State: rag.StateOK}
	for k, v := range f.info {
		if k == "title" {
			doc.Title, _ = v.(string)
			continue
		}
		doc.Meta[k] = v
	}
	var b strings.Builder
	for i, p := range f.pages {
		text := strings.TrimSpace(clean(p.text))
		if b.Len() > 0 && text != "" {
			b.WriteString("\n\n")
		}
		doc.Pages = append(doc.Pages, b.Len())
		doc.Sections = append(doc.Sections, f.sections(i, text, b.Len())...)
		for _, img := range p.images { // unipdf does not say between which words a picture stands
			img.Page, img.Offset = i+1, b.Len()
			doc.Images = append(doc.Images, img)
		}
		b.WriteString(text)
		if text == "" {
			doc.Warnings = append(doc.Warnings, rag.Warning{Page: i + 1, Message: "has no text (blank, or scanned)"})
		}
		for _, what := range p.lost {
			doc.Warnings = append(doc.Warnings, rag.Warning{Page: i + 1, Message: what})
		}
	}
	if f.total > len(f.pages) {
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: fmt.Sprintf("pages %d to %d were not read (setting max_pages)", len(f.pages)+1, f.total)})
	}
	doc.Text = b.String()
	closeSections(doc.Sections, len(doc.Text))
	switch {
	case doc.Text == "":
		doc.State = rag.StateEmpty
	case len(doc.Warnings) > 0:
		doc.State = rag.StatePartial
	}
	return doc
}

// clean is text in UTF-8 with LF line ends and without other controls.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// sections are the bookmarks of a page (0-based) whose title is a line of its text, which begins at start.
func (f *file) sections(number int, text string, start int) []rag.Section {
	var out []rag.Section
	from := 0 // behind the section before
	for _, e := range f.outline {
		if e.page != number || e.title == "" {
			continue
		}
		if at := lineThatIs(text[from:], e.title); at >= 0 {
			out = append(out, rag.Section{Level: e.level, Title: e.title, Start: start + from + at})
			from += at + 1
		}
	}
	return out
}

// lineThatIs returns where a line begins that has the title, with or without a number before it, or -1.
func lineThatIs(text, title string) int {
	at := 0
	for line := range strings.Lines(text) {
		l := strings.Join(strings.Fields(line), " ")
		bare := strings.TrimLeftFunc(l, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ' ' })
		if l == title || bare == title {
			return at
		}
		at += len(line)
	}
	return -1
}

// closeSections ends each section where the next of its level or an outer one begins.
func closeSections(sections []rag.Section, end int) {
	for i := range sections {
		sections[i].End = end
		for _, next := range sections[i+1:] {
			if next.Level <= sections[i].Level {
				sections[i].End = next.Start
				break
			}
		}
	}
}

// readInfo returns what the file says of itself.
func readInfo(r *model.PdfReader) rag.Meta {
	m := rag.Meta{}
	info, err := r.GetPdfInfo()
	if err != nil || info == nil {
		return m
	}
	for name, v := range map[string]*core.PdfObjectString{"title": info.Title, "author": info.Author, "subject": info.Subject, "keywords": info.Keywords} {
		if v == nil {
			continue
		}
		if s := strings.Join(strings.Fields(clean(v.Decoded())), " "); s != "" {
			m[name] = s
		}
	}
	for name, d := range map[string]*model.PdfDate{"created": info.CreationDate, "modified": info.ModifiedDate} {
		if d != nil {
			m[name] = d.ToGoTime().Format(time.RFC3339)
		}
	}
	return m
}

// maxEntries bounds the outline: real ones stay far below.
const maxEntries = 5000

// readOutline returns the bookmarks in order. An outline that cannot be read is as none.
func readOutline(r *model.PdfReader) []entry {
	outline, err := r.GetOutlines()
	if err != nil || outline == nil {
		return nil
	}
	var out []entry
	var walk func(items []*model.OutlineItem, level int)
	walk = func(items []*model.OutlineItem, level int) {
		for _, item := range items {
			if len(out) == maxEntries {
				return
			}
			out = append(out, entry{strings.Join(strings.Fields(clean(item.Title)), " "), level, int(item.Dest.Page)})
			walk(item.Entries, level+1)
		}
	}
	walk(outline.Entries, 1)
	return out
}
