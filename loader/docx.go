package loader

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// DOCXConfig sets how Word files are read.
type DOCXConfig struct {
	MaxBytes    int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"`    // a larger source is ErrInvalid; 0: DefaultMaxBytes
	MaxUnzipped int64 `json:"max_unzipped,omitzero" range:"[1,1099511627776]"` // a source whose parts are larger in all, in bytes, is ErrInvalid; 0: 512 MiB
	Comments    bool  `json:"comments"`                                        // reviewers' comments stand at the end, numbered [^c1] where they were made
	Links       bool  `json:"links"`                                           // links to the web are [text](target) instead of their text alone
}

// DOCX reads Word files (Office Open XML, transitional and strict). Headings become "#" lines and sections, by outline
// level and the built-in style names, whatever the language; lists keep their numbers, tables become pipe tables,
// text boxes follow their paragraph, foot- and endnotes stand at the end. Tracked insertions are in the text,
// deletions are not. Headers and footers are left out. Pictures are in Images, their alternative text is in the text.
// Pages begin where Word marked them when it last laid the file out; a file without such marks has no pages, since a
// Word file has none until it is printed. It is safe for concurrent use.
type DOCX struct {
	cfg DOCXConfig
}

var (
	_ rag.Loader    = (*DOCX)(nil)
	_ rag.Formatter = (*DOCX)(nil)
)

// NewDOCX returns a loader of Word files. Negative limits are ErrInvalid.
func NewDOCX(cfg DOCXConfig) (*DOCX, error) {
	if cfg.MaxBytes < 0 || cfg.MaxUnzipped < 0 {
		return nil, fmt.Errorf("max_bytes and max_unzipped must not be negative: %w", rag.ErrInvalid)
	}
	return &DOCX{cfg: cfg}, nil
}

// Formats says: a zip archive that names parts of a Word file among its first; a compound file only if the name says
// Word, since other programs write them too.
func (*DOCX) Formats() []rag.Format {
	return []rag.Format{
		{
			Name:       "docx",
			Extensions: []string{".docx", ".docm", ".dotx", ".dotm", ".doc"},
			MediaTypes: []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
			Match:      func(head []byte) bool { return isOffice(head, wordKind) },
		},
	}
}

// Load yields the one document of src. A source that is no zip archive, or one without a Word document, is
// ErrUnsupported; one with a password, in the format before 2007, broken or growing beyond the limits is ErrInvalid.
func (d *DOCX) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, d.cfg.MaxBytes, d.parse)
}

func (d *DOCX) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	if bytes.HasPrefix(data, oleMagic) {
		return rag.Document{}, errOLE(".doc")
	}
	pkg, err := openArchive(ctx, data, d.cfg.MaxUnzipped)
	if err != nil {
		return rag.Document{}, err
	}
	main, err := pkg.mainPart(wordKind)
	if err != nil {
		return rag.Document{}, err
	}
	r := &docxReader{pkg: pkg, part: main, cfg: d.cfg}
	if err := r.prepare(); err != nil {
		return rag.Document{}, err
	}
	if err := pkg.readMain(main, wordKind, r.document); err != nil {
		return rag.Document{}, err
	}
	r.writeNotes()
	doc := r.out.document()
	if err := pkg.readProperties(&doc); err != nil {
		return rag.Document{}, err
	}
	if err := r.checkPages(len(doc.Pages)); err != nil {
		return rag.Document{}, err
	}
	if doc.Title == "" {
		doc.Title = r.title(doc.Sections)
	}
	doc.Warnings, doc.State = r.warnings, rag.StateOK
	if strings.TrimSpace(doc.Text) == "" {
		doc.Text, doc.State = "", rag.StateEmpty
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "there is no text in the document"})
	}
	return doc, ctx.Err()
}

// title is the first paragraph in the style Title, else the first heading of level 1.
func (r *docxReader) title(all []rag.Section) string {
	if r.styledTitle != "" {
		return r.styledTitle
	}
	for _, s := range all {
		if s.Level == 1 {
			return s.Title
		}
	}
	return ""
}
