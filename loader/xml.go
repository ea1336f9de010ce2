package loader

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// maxXMLDepth bounds the nesting of elements: Word's deepest (tables in text boxes in tables) stays below 100.
const maxXMLDepth = 400

// xmlReader walks an XML part element by element, so that no tree is held. Names are compared without namespace: the
// strict and the transitional variant of the format differ in it, and writers err in it.
type xmlReader struct {
	dec   *xml.Decoder
	depth int
}

// children calls visit for each child of the element whose start was read last. visit must read the child to its end,
// by children, text or skip.
func (x *xmlReader) children(visit func(xml.StartElement) error) error {
	return x.content(visit, nil)
}

// content is children that also calls text for the character data between them.
func (x *xmlReader) content(visit func(xml.StartElement) error, text func(xml.CharData)) error {
	if x.depth++; x.depth > maxXMLDepth {
		return fmt.Errorf("elements nested deeper than %d: %w", maxXMLDepth, rag.ErrInvalid)
	}
	defer func() { x.depth-- }()
	for {
		tok, err := x.dec.Token()
		if err != nil {
			return x.fail(err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		case xml.CharData:
			if text != nil {
				text(t)
			}
		}
	}
}

// skip reads to the end of the element.
func (x *xmlReader) skip() error {
	if err := x.dec.Skip(); err != nil {
		return x.fail(err)
	}
	return nil
}

// text returns the character data of the element, without that of its children.
func (x *xmlReader) text() (string, error) {
	var b strings.Builder
	err := x.content(func(xml.StartElement) error { return x.skip() }, func(c xml.CharData) { b.Write(c) })
	return b.String(), err
}

// fail tells a broken part from a source that could not be read.
func (x *xmlReader) fail(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, rag.ErrInvalid):
		return err
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("corrupt or cut short at byte %d (%v): %w", x.dec.InputOffset(), err, rag.ErrInvalid)
	}
	return fmt.Errorf("at byte %d: %v: %w", x.dec.InputOffset(), err, rag.ErrInvalid)
}

// attrOf returns an attribute by its local name; "" if there is none.
func attrOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// on reports whether a switch such as <w:vanish/> is set: it is, unless its value says no.
func on(e xml.StartElement) bool {
	switch attrOf(e, "val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
