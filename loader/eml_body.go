package loader

import (
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// body writes a text of the message.
func (m *emlReader) body(p mailPart) {
	declared := p.params["charset"]
	if p.media == "text/html" {
		declared = firstOf(declared, declaredCharset(p.data))
	}
	d, err := decode(p.data, "", declared)
	if err != nil {
		m.pictures.warnings.add("a part of the message is no text: " + err.Error())
		return
	}
	for _, w := range d.warnings {
		m.pictures.warnings.add(w.Message)
	}
	if p.media != "text/html" {
		m.block(paragraph(strings.Trim(d.text, "\n")))
		return
	}
	root, err := parseTree(m.ctx, d.text)
	if err != nil {
		return
	}
	if root == nil {
		m.block(flatHTML(d.text))
		return
	}
	w := newHTMLWalk(m.ctx)
	w.htmlPictures = m.pictures
	w.beside = func(src string) (string, func() ([]byte, error)) {
		file, known := m.files[src]
		if !known {
			return "", nil
		}
		return src, func() ([]byte, error) { return file.data, nil }
	}
	text, headings := w.read(root)
	images := w.images()
	w.placed = nil
	start := m.block(strings.TrimRight(text, "\n"))
	if start < 0 {
		start = m.text.Len()
	}
	for _, h := range headings {
		h.start += start
		h.level += m.nested + 1 // below the subject
		m.headings = append(m.headings, h)
	}
	for _, img := range images {
		img.Offset = min(img.Offset+start, m.text.Len())
		m.doc.Images = append(m.doc.Images, img)
	}
}

// block writes a block of text with a blank line before and returns where it starts; -1 if it is empty.
func (m *emlReader) block(text string) int {
	if strings.TrimSpace(text) == "" {
		return -1
	}
	if m.text.Len() > 0 {
		m.text.WriteString("\n\n")
	}
	start := m.text.Len()
	m.text.WriteString(text)
	return start
}

// list writes the attachments of the message that was read.
func (m *emlReader) list() {
	if len(m.listed) == 0 {
		return
	}
	lines := make([]string, 0, len(m.listed)+1)
	lines = append(lines, "Attachments:\n")
	for _, a := range m.listed {
		lines = append(lines, fmt.Sprintf("- %s (%s, %d bytes)", a.name, a.media, len(a.data)))
	}
	m.block(strings.Join(lines, "\n"))
}

// document is the message.
func (m *emlReader) document() rag.Document {
	doc := m.doc
	doc.Text = m.text.String()
	if doc.Text != "" {
		doc.Text += "\n"
	}
	doc.Sections = sections(m.headings, len(doc.Text))
	doc.Warnings = m.pictures.warnings
	if strings.TrimSpace(doc.Text) == "" {
		doc.Text, doc.State = "", rag.StateEmpty
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "there is no text in the message"})
		for i := range doc.Images {
			doc.Images[i].Offset = 0
		}
	}
	return doc
}
