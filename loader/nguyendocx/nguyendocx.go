// Package nguyendocx reads Word files through github.com/nguyenthenguyen/docx, which opens the archive and hands out the XML of
// its main part. For programs that want that module; all others read Word files better with package loader, which is linked by
// default.
//
//	l, err := nguyendocx.New(nguyendocx.Config{})
//	eng, err := rag.Open("kb", rag.WithLoader("nguyendocx", l)) // goes before the default loader
package nguyendocx

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/nguyenthenguyen/docx"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// Config bounds what is read.
type Config struct {
	MaxBytes    int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: 64 MiB
	MaxUnzipped int64 `json:"max_unzipped" range:"[0,1099511627776]"`       // so is one whose parts together are larger; 0: that of the engine, else 512 MiB
}

// Defaults of [Config], those of the engine's limits.
const (
	defaultMaxBytes    = 64 << 20
	defaultMaxUnzipped = 512 << 20
)

// Loader reads the paragraphs, headings and tables of the main part. Headings are known by the IDs that Word gives to its own
// styles, or by an outline level at the paragraph. Lists have no numbers; notes, comments, pictures, and what only styles say,
// are not read. It is safe for concurrent use.
type Loader struct{ cfg Config }

var (
	_ rag.Loader        = (*Loader)(nil)
	_ rag.Formatter     = (*Loader)(nil)
	_ rag.Fingerprinter = (*Loader)(nil)
)

// New makes a loader. A negative limit is ErrInvalid.
func New(c Config) (*Loader, error) {
	if c.MaxBytes < 0 || c.MaxUnzipped < 0 {
		return nil, fmt.Errorf("max_bytes and max_unzipped must not be negative: %w", rag.ErrInvalid)
	}
	c.MaxBytes, c.MaxUnzipped = cmp.Or(c.MaxBytes, defaultMaxBytes), cmp.Or(c.MaxUnzipped, defaultMaxUnzipped)
	return &Loader{c}, nil
}

// sign begins every archive that is not empty.
var sign = []byte("PK\x03\x04")

// mainPart is where Word puts the text.
const mainPart = "word/document.xml"

func isWord(head []byte) bool {
	return bytes.HasPrefix(head, sign) && bytes.Contains(head, []byte("word/"))
}

// Formats says: by the archive's parts, or by extension.
func (*Loader) Formats() []rag.Format {
	return []rag.Format{{
		Name: "docx", Extensions: []string{".docx", ".docm"},
		MediaTypes: []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}, Match: isWord,
	}}
}

// Fingerprint names the version of what is made of the XML.
func (*Loader) Fingerprint() string { return "nguyendocx/1" }

// Load yields the one document of a Word file. What is no archive with a main part is ErrUnsupported, what is damaged or beyond
// the limits ErrInvalid.
func (l *Loader) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		doc, err := l.load(ctx, src)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		yield(doc, nil)
	}
}

func (l *Loader) load(ctx context.Context, src rag.Source) (rag.Document, error) {
	data, err := source.Read(ctx, src, l.cfg.MaxBytes, "split the file or raise max_bytes")
	if err != nil {
		return rag.Document{}, err
	}
	if err := l.check(data); err != nil {
		return rag.Document{}, err
	}
	file, err := docx.ReadDocxFromMemory(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return rag.Document{}, fmt.Errorf("the file is corrupt (%v): %w", err, rag.ErrInvalid)
	}
	defer func() { _ = file.Close() }() // it holds memory only
	doc, err := read(file.Editable().GetContent())
	if err != nil {
		return rag.Document{}, err
	}
	return doc, ctx.Err()
}

// check unpacks every part once without keeping it: the module reads some of them whole, whatever they hold.
func (l *Loader) check(data []byte) error {
	if !bytes.HasPrefix(data, sign) {
		return fmt.Errorf("no archive: %w", rag.ErrUnsupported)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("the archive is corrupt or cut short (%v): %w", err, rag.ErrInvalid)
	}
	left, word := l.cfg.MaxUnzipped, false
	for _, part := range archive.File {
		word = word || part.Name == mainPart
		n, err := unpack(part, left)
		if err != nil {
			return fmt.Errorf("%s is corrupt (%v): %w", part.Name, err, rag.ErrInvalid)
		}
		if left -= n; left < 0 {
			return fmt.Errorf("its parts are larger than %d bytes (setting max_unzipped): %w", l.cfg.MaxUnzipped, rag.ErrInvalid)
		}
	}
	if !word {
		return fmt.Errorf("an archive without %s: %w", mainPart, rag.ErrUnsupported)
	}
	return nil
}

// unpack returns the size of a part, or one byte more than left if it is larger.
func unpack(part *zip.File, left int64) (int64, error) {
	r, err := part.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(io.Discard, io.LimitReader(r, left+1))
}
