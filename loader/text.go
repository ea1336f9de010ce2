package loader

import (
	"context"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// TextConfig sets how plain text is read.
type TextConfig struct {
	Encoding string `json:"encoding"`                                     // WHATWG label such as "gb18030" for files without a byte order mark; "": by their bytes
	MaxBytes int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
}

// Text reads plain text: every file whose bytes are text and that no other loader claims. The text is kept as it
// is but for byte order mark, line ends (LF) and form feeds, which become line feeds and begin a page. An encoding
// that had to be guessed is a warning. It is safe for concurrent use.
type Text struct{ cfg TextConfig }

var (
	_ rag.Loader    = (*Text)(nil)
	_ rag.Formatter = (*Text)(nil)
)

// NewText returns a loader of plain text. An unknown encoding is ErrInvalid.
func NewText(cfg TextConfig) (*Text, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	return &Text{cfg}, nil
}

// checkEncoding returns an error for a name that is neither empty nor known.
func checkEncoding(name string) error {
	if name == "" {
		return nil
	}
	_, err := lookup(name)
	return err
}

// Formats says: by extension, or any content that is text if nothing better is known.
func (*Text) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "text",
		Extensions: []string{".txt", ".text", ".log", ".rst", ".org"},
		MediaTypes: []string{"text/plain", "text/x-rst", "text/org"},
		Match:      isText,
		Weak:       true,
	}}
}

// isText reports whether the first bytes of a source can be read as text. A character cut in two by the end of head
// does not count against it.
func isText(head []byte) bool {
	_, err := decode(head, "", "")
	return err == nil
}

// Load yields the one document of src.
func (t *Text) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, t.cfg.MaxBytes, t.parse)
}

func (t *Text) parse(_ context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, t.cfg.Encoding, "")
	if err != nil {
		return rag.Document{}, err
	}
	text, pages := splitPages(d.text)
	return rag.Document{Text: text, Pages: pages, Warnings: d.warnings, State: d.state(text)}, nil
}

// splitPages replaces form feeds by line feeds, so that offsets stay, and returns where pages begin; nil without
// form feeds. A form feed at the very end, as printers want it, begins no page.
func splitPages(text string) (string, []int) {
	if strings.IndexByte(text, '\f') < 0 {
		return text, nil
	}
	last := len(strings.TrimRight(text, "\f\n \t"))
	pages := []int{0}
	for i := range last {
		if text[i] == '\f' {
			pages = append(pages, i+1)
		}
	}
	return strings.ReplaceAll(text, "\f", "\n"), pages
}
