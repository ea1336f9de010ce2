package loader

import (
	"context"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// MarkdownConfig sets how Markdown is read.
type MarkdownConfig struct {
	Encoding string `json:"encoding"`                                     // WHATWG label for files without a byte order mark; "": by their bytes
	MaxBytes int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
}

// Markdown reads GitHub flavoured Markdown. The document's text is the source itself without byte order mark and
// front matter and with LF line ends, so code and tables stay verbatim; the syntax tree only gives the outline.
// Front matter (YAML or TOML) goes into Meta: nested mappings under dotted names, dates as ISO strings. Pictures that are
// written into the text as data: URIs, and those that lie beside the source, go into Images. It is safe for concurrent use.
type Markdown struct {
	cfg MarkdownConfig
}

var (
	_ rag.Loader    = (*Markdown)(nil)
	_ rag.Formatter = (*Markdown)(nil)
)

// NewMarkdown returns a loader of Markdown. An unknown encoding is ErrInvalid.
func NewMarkdown(cfg MarkdownConfig) (*Markdown, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	return &Markdown{cfg: cfg}, nil
}

// Formats says: by extension; the content of Markdown does not tell it from other text.
func (*Markdown) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "markdown",
		Extensions: []string{".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"},
		MediaTypes: []string{"text/markdown", "text/x-markdown"},
	}}
}

// Load yields the one document of src.
func (m *Markdown) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, m.cfg.MaxBytes, m.parse)
}

func (m *Markdown) parse(ctx context.Context, src rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, m.cfg.Encoding, "")
	if err != nil {
		return rag.Document{}, err
	}
	if err := ctx.Err(); err != nil {
		return rag.Document{}, err
	}
	doc := rag.Document{Text: d.text, Warnings: d.warnings}
	front := readFrontMatter(d.text)
	if front.warning != "" {
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: front.warning})
	}
	var shown markdownPictures
	doc.Text = shown.takeWritten(d.text[front.length:])
	shown.addBeside(ctx, src, doc.Text)
	doc.Images = shown.images
	doc.Meta, doc.Warnings = front.meta, append(doc.Warnings, shown.lost...)
	headings, ok := markdownOutline(doc.Text)
	if !ok {
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "too large or nested too deep for an outline: read without headings"})
	}
	doc.Sections = sections(headings, len(doc.Text))
	doc.Title = markdownTitle(front.meta, headings)
	doc.Language = metaText(front.meta, "lang", "language")
	doc.State = d.state(doc.Text)
	return doc, ctx.Err()
}

// markdownTitle is the front matter's title, else the first heading of level 1.
func markdownTitle(meta rag.Meta, headings []heading) string {
	if title := metaText(meta, "title"); title != "" {
		return title
	}
	for _, h := range headings {
		if h.level == 1 {
			return h.title
		}
	}
	return ""
}

// metaText returns the first of the named values that is there, on one line.
func metaText(meta rag.Meta, names ...string) string {
	for _, name := range names {
		switch v := meta[name].(type) {
		case string, float64, bool:
			if s := strings.Join(strings.Fields(scalarText(v)), " "); s != "" {
				return s
			}
		}
	}
	return ""
}
