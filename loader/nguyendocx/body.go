package nguyendocx

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// headingStyle are the IDs of Word's own styles for headings, in the languages of its users: "Heading1", "berschrift2".
var headingStyle = regexp.MustCompile(`(?i)^(?:heading|berschrift|überschrift|titre|ttulo|título|titolo|kop)\s?([1-9])$`)

// notText are elements whose text is not part of the document: what was moved away, and what is drawn where the newer form of
// it cannot be.
var notText = map[string]bool{"moveFrom": true, "Fallback": true}

// body makes text of the XML of the main part.
type body struct {
	text     strings.Builder
	sections []rag.Section
	title    string // of the style Title

	paragraph strings.Builder
	level     int    // of the paragraph as a heading; 0: none
	style     string // ID
	tables    int    // open ones; the text of a table in a table is that of the outer one's cell
	row       []string
	cell      strings.Builder
	rows      int
}

// read makes a document of the main part.
func read(content string) (rag.Document, error) {
	b := body{}
	decoder := xml.NewDecoder(strings.NewReader(content))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rag.Document{}, fmt.Errorf("%s is no XML (%v): %w", mainPart, err, rag.ErrInvalid)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if notText[t.Name.Local] {
				err = decoder.Skip()
			}
			inText = t.Name.Local == "t"
			b.open(&t)
		case xml.EndElement:
			inText = false
			b.close(t.Name.Local)
		case xml.CharData:
			if inText {
				b.paragraph.WriteString(strings.ReplaceAll(string(t), "\r", "\n")) // written as &#13;
			}
		}
		if err != nil {
			return rag.Document{}, fmt.Errorf("%s is no XML (%v): %w", mainPart, err, rag.ErrInvalid)
		}
	}
	return b.document(), nil
}

func (b *body) open(e *xml.StartElement) {
	switch e.Name.Local {
	case "pStyle":
		b.style = value(e)
		if m := headingStyle.FindStringSubmatch(b.style); m != nil {
			b.level = int(m[1][0] - '0')
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(value(e)); err == nil && n >= 0 && n < 9 { // 9 stands for body text
			b.level = n + 1
		}
	case "tab":
		b.paragraph.WriteByte('\t')
	case "br", "cr":
		b.paragraph.WriteByte('\n')
	case "tbl":
		if b.tables++; b.tables == 1 {
			b.rows = 0
		}
	}
}

// value is the attribute that most elements have.
func value(e *xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "val" {
			return a.Value
		}
	}
	return ""
}

func (b *body) close(name string) {
	switch {
	case name == "p":
		b.endParagraph()
	case b.tables != 1:
	case name == "tc":
		b.row = append(b.row, strings.ReplaceAll(strings.Join(strings.Fields(b.cell.String()), " "), "|", `\|`))
		b.cell.Reset()
	case name == "tr":
		b.endRow()
	}
	if name == "tbl" {
		b.tables--
	}
}

// endParagraph writes a paragraph, into the cell where there is one.
func (b *body) endParagraph() {
	text := strings.TrimSpace(b.paragraph.String())
	level, style := b.level, b.style
	b.paragraph.Reset()
	b.level, b.style = 0, ""
	switch {
	case text == "":
	case b.tables > 0:
		b.cell.WriteString(text + "\n")
	case level > 0:
		text = strings.Join(strings.Fields(text), " ")
		b.write("")
		b.sections = append(b.sections, rag.Section{Level: level, Title: text, Start: b.text.Len()})
		b.text.WriteString(strings.Repeat("#", level) + " " + text)
	default:
		if b.title == "" && strings.EqualFold(style, "title") {
			b.title = strings.Join(strings.Fields(text), " ")
		}
		b.write(text)
	}
}

// write begins a block.
func (b *body) write(text string) {
	if b.text.Len() > 0 {
		b.text.WriteString("\n\n")
	}
	b.text.WriteString(text)
}

// endRow writes a row of a table; the first one is its header.
func (b *body) endRow() {
	line := "| " + strings.Join(b.row, " | ") + " |"
	if b.rows++; b.rows == 1 {
		b.write(line + "\n|" + strings.Repeat(" --- |", len(b.row)))
	} else {
		b.text.WriteString("\n" + line)
	}
	b.row = nil
}

// document closes the sections: each ends where the next of its level or an outer one begins.
func (b *body) document() rag.Document {
	if b.text.Len() == 0 {
		return rag.Document{State: rag.StateEmpty}
	}
	b.text.WriteByte('\n')
	doc := rag.Document{Title: b.title, Text: b.text.String(), State: rag.StateOK, Sections: b.sections}
	for i := range doc.Sections {
		s := &doc.Sections[i]
		s.End = len(doc.Text)
		for _, next := range doc.Sections[i+1:] {
			if next.Level <= s.Level {
				s.End = next.Start
				break
			}
		}
		if doc.Title == "" && s.Level == 1 {
			doc.Title = s.Title
		}
	}
	return doc
}
