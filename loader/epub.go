package loader

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// EPUBConfig sets how books are read.
type EPUBConfig struct {
	MaxBytes    int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"`    // a larger source is ErrInvalid; 0: DefaultMaxBytes
	MaxUnzipped int64 `json:"max_unzipped,omitzero" range:"[1,1099511627776]"` // a source whose parts are larger in all, in bytes, is ErrInvalid; 0: 512 MiB
	Links       bool  `json:"links"`                                           // links to the web are [text](target) instead of their text alone
}

// EPUB reads electronic books (EPUB 2 and 3): their chapters in reading order, each as [HTML] reads a page, with the
// pictures of the archive in Images. Title, author, language and the like come from the package's metadata. It is safe
// for concurrent use.
type EPUB struct{ cfg EPUBConfig }

var (
	_ rag.Loader    = (*EPUB)(nil)
	_ rag.Formatter = (*EPUB)(nil)
)

// NewEPUB returns a loader of books. Negative limits are ErrInvalid.
func NewEPUB(cfg EPUBConfig) (*EPUB, error) {
	if cfg.MaxBytes < 0 || cfg.MaxUnzipped < 0 {
		return nil, fmt.Errorf("max_bytes and max_unzipped must not be negative: %w", rag.ErrInvalid)
	}
	return &EPUB{cfg}, nil
}

// Formats says: an archive whose first entry says so, as the standard wants it.
func (*EPUB) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "epub",
		Extensions: []string{".epub"},
		MediaTypes: []string{"application/epub+zip"},
		Match: func(head []byte) bool {
			return bytes.HasPrefix(head, zipMagic) && bytes.Contains(head[:min(len(head), 128)], []byte("mimetypeapplication/epub+zip"))
		},
	}}
}

// Load yields the one document of src. A source that is no zip archive, or one without a book, is ErrUnsupported; one
// that is protected against copying, broken or growing beyond the limits is ErrInvalid.
func (l *EPUB) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, l.cfg.MaxBytes, l.parse)
}

func (l *EPUB) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	pkg, err := openArchive(ctx, data, l.cfg.MaxUnzipped)
	if err != nil {
		return rag.Document{}, err
	}
	b := &epubBook{ctx: ctx, pkg: pkg, links: l.cfg.Links, pictures: &htmlPictures{}}
	if err := b.read(); err != nil {
		return rag.Document{}, err
	}
	doc := b.doc
	doc.Text = b.text.String()
	doc.Warnings = b.pictures.warnings
	doc.Sections = sections(b.headings, len(doc.Text))
	doc.Title = firstOf(doc.Title, firstTitle(b.headings))
	if strings.TrimSpace(doc.Text) == "" {
		doc.State = rag.StateEmpty
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "there is no text in the book"})
	}
	return doc, ctx.Err()
}

// epubBook is a book while it is read.
type epubBook struct {
	ctx      context.Context //nolint:containedctx // lives as long as one Load
	pkg      *archive
	links    bool
	dir      string            // folder of the package document
	manifest map[string]string // part names by ID
	spine    []string          // IDs in reading order
	meta     map[string][]string

	doc      rag.Document
	text     strings.Builder
	headings []heading
	pictures *htmlPictures // shared by all chapters
}

func (b *epubBook) read() error {
	opf := ""
	err := b.pkg.read("meta-inf/container.xml", func(x *xmlReader, _ xml.StartElement) error {
		var visit func(xml.StartElement) error
		visit = func(e xml.StartElement) error {
			if e.Name.Local == "rootfile" && opf == "" {
				if opf, _ = partName(attrOf(e, "full-path")); b.pkg.parts[opf] == nil { // EPUB 3.3: it is written as in an address
					opf = resolvePart("", attrOf(e, "full-path"))
				}
			}
			return x.children(visit)
		}
		return x.children(visit)
	})
	if err != nil {
		return err
	}
	if _, ok := b.pkg.parts[opf]; !ok {
		return fmt.Errorf("the archive holds no book: %w", rag.ErrUnsupported)
	}
	b.dir = path.Dir(opf)
	if err := b.pkg.read(opf, b.readPackage); err != nil {
		return err
	}
	b.setMeta()
	locked, err := b.encrypted()
	if err != nil {
		return err
	}
	read := map[string]bool{}
	for _, id := range b.spine {
		name := b.manifest[id]
		if read[name] {
			b.pictures.warnings.add("a chapter that is listed again is read once")
			continue
		}
		read[name] = true
		if locked[name] {
			return fmt.Errorf("the book is protected against copying: %w", rag.ErrInvalid)
		}
		if err := b.chapter(name); err != nil {
			return err
		}
	}
	return nil
}

// bookNames are the elements of Dublin Core that become metadata, and their names there.
var bookNames = map[string]string{
	"creator": "author", "publisher": "publisher", "subject": "keywords", "description": "description", "date": "created",
	"identifier": "identifier", "rights": "rights",
}

// readPackage reads the package document: metadata, manifest, spine.
func (b *epubBook) readPackage(x *xmlReader, _ xml.StartElement) error {
	b.manifest, b.meta = map[string]string{}, map[string][]string{}
	return x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "metadata":
			var visit func(xml.StartElement) error
			visit = func(e xml.StartElement) error {
				if e.Name.Local == "dc-metadata" || e.Name.Local == "x-metadata" { // EPUB 2 had these around
					return x.children(visit)
				}
				s, err := x.text()
				if value := mdtext.Line(s); value != "" {
					b.meta[e.Name.Local] = append(b.meta[e.Name.Local], value)
				}
				return err
			}
			return x.children(visit)
		case "manifest":
			return x.children(func(e xml.StartElement) error {
				if e.Name.Local == "item" {
					b.manifest[attrOf(e, "id")] = resolvePart(b.dir, attrOf(e, "href"))
				}
				return x.skip()
			})
		case "spine":
			return x.children(func(e xml.StartElement) error {
				if id := attrOf(e, "idref"); e.Name.Local == "itemref" && b.manifest[id] != "" {
					b.spine = append(b.spine, id)
				}
				return x.skip()
			})
		}
		return x.skip()
	})
}

// setMeta moves the package's metadata to the document: several values are a list.
func (b *epubBook) setMeta() {
	meta := rag.Meta{}
	for name, values := range b.meta {
		switch key := bookNames[name]; {
		case name == "title":
			b.doc.Title = values[0]
		case name == "language":
			b.doc.Language = values[0]
		case key != "" && len(values) == 1:
			meta[key] = values[0]
		case key != "":
			meta[key] = values
		}
	}
	if len(meta) > 0 {
		b.doc.Meta = meta
	}
}

// resolvePart returns the name of the part that a reference in a part of the folder names; "" if it leads elsewhere.
func resolvePart(dir, ref string) string {
	u, err := url.Parse(ref)
	if err != nil || u.Scheme != "" || u.Path == "" {
		return ""
	}
	name, _ := partName(path.Clean("/" + path.Join(dir, u.Path))[1:])
	return name
}

// encrypted returns the parts that need a key to be read.
func (b *epubBook) encrypted() (map[string]bool, error) {
	locked := map[string]bool{}
	err := b.pkg.read("meta-inf/encryption.xml", func(x *xmlReader, _ xml.StartElement) error {
		var visit func(xml.StartElement) error
		visit = func(e xml.StartElement) error {
			if e.Name.Local == "CipherReference" {
				locked[resolvePart("", attrOf(e, "URI"))] = true
			}
			return x.children(visit)
		}
		return x.children(visit)
	})
	return locked, err
}

// chapter adds the text of one part.
func (b *epubBook) chapter(name string) error {
	data, ok, err := b.pkg.data(name)
	if err != nil {
		return err
	}
	if !ok || len(bytes.TrimSpace(data)) == 0 {
		b.pictures.warnings.add("the chapter " + path.Base(name) + " is missing")
		return nil
	}
	d, err := decode(data, "", declaredCharset(data))
	if err != nil { // a picture as a page of its own
		b.pictures.warnings.add("the chapter " + path.Base(name) + " is no text")
		return nil //nolint:nilerr // said in the warnings
	}
	root, err := parseTree(b.ctx, asHTML(d.text))
	if err != nil {
		return err
	}
	if b.text.Len() > 0 {
		b.text.WriteByte('\n')
	}
	base := b.text.Len()
	if root == nil {
		b.text.WriteString(flatHTML(d.text))
		return nil
	}
	w := newHTMLWalk(b.ctx)
	w.links, w.htmlPictures = b.links, b.pictures
	w.beside = func(src string) (string, func() ([]byte, error)) {
		part := resolvePart(path.Dir(name), src)
		return part, func() ([]byte, error) {
			if f := b.pkg.parts[part]; f == nil || f.UncompressedSize64 > maxImageBytes {
				return nil, errors.New(path.Base(part) + " is not in the archive, or too large")
			}
			data, _, err := b.pkg.data(part)
			return data, err
		}
	}
	text, headings := w.read(root)
	if err := b.pkg.count(len(text)); err != nil {
		return err
	}
	b.text.WriteString(text)
	for _, h := range headings {
		h.start += base
		b.headings = append(b.headings, h)
	}
	for _, img := range w.images() {
		img.Offset += base
		b.doc.Images = append(b.doc.Images, img)
	}
	w.placed = nil
	return b.ctx.Err()
}
