package loader

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// officeKind is one of the three document types of Office Open XML.
type officeKind struct {
	folder string // where its parts lie by custom
	main   string // its main part by custom
	root   string // element at the root of the main part
	noun   string
}

var (
	wordKind   = officeKind{"word/", "word/document.xml", "document", "Word document"}
	slidesKind = officeKind{"ppt/", "ppt/presentation.xml", "presentation", "presentation"}
	sheetsKind = officeKind{"xl/", "xl/workbook.xml", "workbook", "workbook"}
)

// zipMagic begins an archive that has entries.
var zipMagic = []byte("PK\x03\x04")

// oleMagic begins compound files: Office files from before 2007, and any Office file with a password.
var oleMagic = []byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1}

// errOLE is the error for a compound file; name is the extension of the old format.
func errOLE(old string) error {
	return fmt.Errorf("encrypted, or a %s from before 2007: save it as %sx without a password: %w", old, old, rag.ErrInvalid)
}

// mainType finds the content type of a main part, which begins with the kind it is of.
var mainType = regexp.MustCompile(`(wordprocessingml|ms-word|presentationml|ms-powerpoint|spreadsheetml|ms-excel)\.[A-Za-z.]*main\+xml`)

// isOffice reports whether head begins an archive of the kind: by the list of content types, which most writers put
// first, else by the folder that is named first.
func isOffice(head []byte, kind officeKind) bool {
	if !bytes.HasPrefix(head, zipMagic) {
		return false
	}
	if m := mainType.FindSubmatch(contentTypes(head)); m != nil {
		switch string(m[1]) {
		case "wordprocessingml", "ms-word":
			return kind == wordKind
		case "presentationml", "ms-powerpoint":
			return kind == slidesKind
		}
		return kind == sheetsKind
	}
	first, at := officeKind{}, len(head)
	for _, k := range []officeKind{wordKind, slidesKind, sheetsKind} {
		if i := bytes.Index(head[:at], []byte(k.folder)); i >= 0 {
			first, at = k, i
		}
	}
	return first == kind
}

// contentTypes unpacks what head holds of [Content_Types].xml if that is the archive's first entry. The header of an
// entry has 30 bytes, with the method at 8 and the lengths of name and extra field at 26 and 28 (APPNOTE.TXT 4.3.7).
func contentTypes(head []byte) []byte {
	const header, name = 30, "[Content_Types].xml"
	if len(head) < header {
		return nil
	}
	nameEnd := header + int(binary.LittleEndian.Uint16(head[26:]))
	start := nameEnd + int(binary.LittleEndian.Uint16(head[28:]))
	if start > len(head) || string(head[header:nameEnd]) != name {
		return nil
	}
	if binary.LittleEndian.Uint16(head[8:]) == 0 {
		return head[start:]
	}
	const enough = 64 << 10
	types, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(head[start:])), enough)) // head ends somewhere within
	return types
}

// mainPart returns the name of the part that holds the text, wherever the package says it is.
func (p *archive) mainPart(kind officeKind) (string, error) {
	rels, err := p.relations("")
	if err != nil {
		return "", err
	}
	name := firstOf(related(rels, "officeDocument"), kind.main)
	if _, ok := p.parts[name]; !ok {
		return "", fmt.Errorf("the archive holds no %s: %w", kind.noun, rag.ErrUnsupported)
	}
	return name, nil
}

// readMain reads the main part, whose root must be of the kind.
func (p *archive) readMain(name string, kind officeKind, visit func(*xmlReader) error) error {
	return p.read(name, func(x *xmlReader, root xml.StartElement) error {
		if root.Name.Local != kind.root {
			return fmt.Errorf("the archive holds a %s, no %s: %w", root.Name.Local, kind.noun, rag.ErrUnsupported)
		}
		return visit(x)
	})
}

// coreNames are the core properties that become metadata, and their names there.
var coreNames = map[string]string{
	"creator": "author", "lastModifiedBy": "modified_by", "subject": "subject", "keywords": "keywords",
	"description": "description", "category": "category", "created": "created", "modified": "modified",
}

// readProperties takes title, language and metadata from the core properties. Dates that cannot be read are left out.
func (p *archive) readProperties(doc *rag.Document) error {
	if err := p.count(0); err != nil { // of what was read last
		return err
	}
	rels, err := p.relations("")
	if err != nil {
		return err
	}
	meta := rag.Meta{}
	err = p.read(related(rels, "core-properties"), func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			raw, err := x.text()
			value, name := mdtext.Line(raw), coreNames[e.Name.Local]
			switch {
			case err != nil || value == "":
			case e.Name.Local == "title":
				doc.Title = value
			case e.Name.Local == "language":
				doc.Language = value
			case name == "created" || name == "modified":
				if t, err := time.Parse(time.RFC3339, value); err == nil {
					meta[name] = t.Format(time.RFC3339)
				}
			case name != "":
				meta[name] = value
			}
			return err
		})
	})
	if len(meta) > 0 {
		doc.Meta = meta
	}
	return err
}

// embedded returns the picture that a relation leads to; nil, with a warning, if it is not in the archive or cannot be read.
func (p *archive) embedded(rel relation, all *pictures, w *warnings) *rag.Image {
	if rel.external {
		w.add("a picture that is linked, not embedded, is not read")
		return nil
	}
	img, err := p.picture(all, rel.target)
	if err != nil {
		w.add("the picture " + path.Base(rel.target) + " could not be read: " + err.Error())
		return nil
	}
	return img
}

// picture returns the picture of a part.
func (p *archive) picture(all *pictures, name string) (*rag.Image, error) {
	return all.get(name, func() ([]byte, error) {
		if f := p.parts[name]; f != nil && f.UncompressedSize64 > maxImageBytes {
			return nil, fmt.Errorf("it is larger than %d bytes", maxImageBytes)
		}
		data, ok, err := p.data(name)
		if err == nil && !ok {
			err = errors.New("it is not in the archive")
		}
		return data, err
	})
}

// understood are the extensions of the format whose content is read here; mc:AlternateContent asks for them.
var understood = map[string]bool{
	"wps": true, "wpg": true, "wpc": true, "wpi": true, "wp14": true, "a14": true, "pic": true, "v": true,
	"w14": true, "w15": true, "w16": true, "w16se": true, "w16cid": true, "w16cex": true, "w16du": true, "p14": true,
}

// alternate reads the first choice that is understood, else the fallback, and never both: they hold the same text.
func (x *xmlReader) alternate(visit func(xml.StartElement) error) error {
	taken := false
	return x.children(func(e xml.StartElement) error {
		switch {
		case taken:
		case e.Name.Local == "Choice" && allUnderstood(attrOf(e, "Requires")), e.Name.Local == "Fallback":
			taken = true
			return x.children(visit)
		}
		return x.skip()
	})
}

func allUnderstood(requires string) bool {
	for name := range strings.FieldsSeq(requires) {
		if !understood[name] {
			return false
		}
	}
	return true
}

// firstOf returns the first value that is not empty.
func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
