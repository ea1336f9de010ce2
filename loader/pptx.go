package loader

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// PPTXConfig sets how presentations are read.
type PPTXConfig struct {
	MaxBytes    int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"`    // a larger source is ErrInvalid; 0: DefaultMaxBytes
	MaxUnzipped int64 `json:"max_unzipped,omitzero" range:"[1,1099511627776]"` // a source whose parts are larger in all, in bytes, is ErrInvalid; 0: 512 MiB
	NoNotes     bool  `json:"no_notes"`                                        // the speaker's notes are left out
}

// PPTX reads PowerPoint presentations (Office Open XML). Each slide is a page, and a section if it has a title: title
// first, then its shapes in the order in which the file has them, lists with their levels, tables as pipe tables, the
// texts of diagrams, the speaker's notes behind "Notes:". Dates, footers and slide numbers are left out. Pictures are
// in Images, their alternative text is in the text. It is safe for concurrent use.
type PPTX struct{ cfg PPTXConfig }

var (
	_ rag.Loader    = (*PPTX)(nil)
	_ rag.Formatter = (*PPTX)(nil)
)

// NewPPTX returns a loader of presentations. Negative limits are ErrInvalid.
func NewPPTX(cfg PPTXConfig) (*PPTX, error) {
	if cfg.MaxBytes < 0 || cfg.MaxUnzipped < 0 {
		return nil, fmt.Errorf("max_bytes and max_unzipped must not be negative: %w", rag.ErrInvalid)
	}
	return &PPTX{cfg}, nil
}

// Formats says: an archive whose content types name a presentation; the old format only by extension.
func (*PPTX) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "pptx",
		Extensions: []string{".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm", ".ppt"},
		MediaTypes: []string{"application/vnd.openxmlformats-officedocument.presentationml.presentation", "application/vnd.ms-powerpoint"},
		Match:      func(head []byte) bool { return isOffice(head, slidesKind) },
	}}
}

// Load yields the one document of src. A source that is no zip archive, or one without a presentation, is
// ErrUnsupported; one with a password, in the format before 2007, broken or growing beyond the limits is ErrInvalid.
func (l *PPTX) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, l.cfg.MaxBytes, l.parse)
}

func (l *PPTX) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	if bytes.HasPrefix(data, oleMagic) {
		return rag.Document{}, errOLE(".ppt")
	}
	pkg, err := openArchive(ctx, data, l.cfg.MaxUnzipped)
	if err != nil {
		return rag.Document{}, err
	}
	main, err := pkg.mainPart(slidesKind)
	if err != nil {
		return rag.Document{}, err
	}
	r := &pptxReader{pkg: pkg, notes: !l.cfg.NoNotes}
	if err := r.read(main); err != nil {
		return rag.Document{}, err
	}
	doc := rag.Document{Text: r.out.text(), Images: r.images, Warnings: r.warnings, Pages: r.pages}
	for i, at := range doc.Pages {
		doc.Pages[i] = min(at, len(doc.Text))
	}
	if err := pkg.readProperties(&doc); err != nil {
		return rag.Document{}, err
	}
	doc.Title = firstOf(doc.Title, firstTitle(r.headings))
	doc.Sections = sections(r.headings, len(doc.Text))
	if strings.TrimSpace(doc.Text) == "" {
		doc.State = rag.StateEmpty
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "there is no text on the slides"})
	}
	return doc, ctx.Err()
}

// pptxReader reads the parts of one presentation.
type pptxReader struct {
	pkg   *archive
	notes bool
	rels  map[string]relation // of the slide that is being read
	slide int                 // its number, 1-based

	out      blockWriter
	headings []heading
	pages    []int
	pictures pictures
	images   []rag.Image
	warnings warnings
}

func (r *pptxReader) read(main string) error {
	rels, err := r.pkg.relations(main)
	if err != nil {
		return err
	}
	var slides []string
	listed := map[string]bool{}
	err = r.pkg.readMain(main, slidesKind, func(x *xmlReader) error {
		return x.children(func(e xml.StartElement) error {
			if e.Name.Local != "sldIdLst" {
				return x.skip()
			}
			return x.children(func(e xml.StartElement) error {
				switch rel := rels[relationID(e)]; {
				case rel.target == "" || rel.external:
				case listed[rel.target]:
					r.warnings.add("a slide that is listed again is read once")
					slides = append(slides, "") // it keeps its number
				default:
					listed[rel.target] = true
					slides = append(slides, rel.target)
				}
				return x.skip()
			})
		})
	})
	if err != nil {
		return err
	}
	for i, part := range slides {
		r.slide = i + 1
		r.pages = append(r.pages, r.nextBlock())
		if part == "" {
			continue
		}
		if r.rels, err = r.pkg.relations(part); err != nil {
			return err
		}
		if err := r.pkg.read(part, r.readSlide); err != nil {
			return err
		}
		if notes := related(r.rels, "notesSlide"); r.notes && notes != "" {
			if err := r.pkg.read(notes, r.readNotes); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextBlock is where the next block of text will begin.
func (r *pptxReader) nextBlock() int {
	if n := r.out.out.Len(); n > 0 {
		return n + len("\n\n")
	}
	return 0
}

// relationID is the id attribute in the namespace of relationships: a slide's entry has one of its own beside it.
func relationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// readSlide writes a slide: its title as a heading, then the other shapes.
func (r *pptxReader) readSlide(x *xmlReader, _ xml.StartElement) error {
	var s pptxShapes
	if err := r.shapes(x, &s); err != nil {
		return err
	}
	if title := strings.Join(s.titles, " "); title != "" {
		start := r.out.block("# " + title)
		r.headings = append(r.headings, heading{1, title, start})
	}
	for _, b := range s.blocks {
		r.write(b)
	}
	return nil
}

// readNotes writes the speaker's notes of the slide.
func (r *pptxReader) readNotes(x *xmlReader, _ xml.StartElement) error {
	s := pptxShapes{notes: true}
	if err := r.shapes(x, &s); err != nil {
		return err
	}
	for i, b := range s.blocks {
		if i == 0 {
			b.text = "Notes: " + b.text
		}
		r.write(b)
	}
	return nil
}

// write writes a block of a slide.
func (r *pptxReader) write(b pptxBlock) {
	r.out.tight = b.tight
	start := r.out.block(b.prefix + b.text)
	if start < 0 {
		start = min(r.nextBlock(), r.out.out.Len())
	}
	for _, p := range b.images {
		img := *p.image
		img.Alt, img.Offset, img.Page = p.alt, start, r.slide
		r.images = append(r.images, img)
	}
}
