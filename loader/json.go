package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// JSONConfig sets how JSON is read.
type JSONConfig struct {
	Text     string `json:"text"`                                         // name of the field that holds a record's text; "": the first of text, content, body, page_content
	Title    string `json:"title"`                                        // name of the field that holds its title; "": the first of title, name, headline
	Encoding string `json:"encoding"`                                     // WHATWG label for files without a byte order mark; "": by their bytes
	MaxBytes int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
}

// JSON reads JSON and JSON Lines. Several values in a source, one after the other, are as many documents; so are the
// elements of an array that are all records. A record is an object with a field that holds its text: that is the
// document's text, read as Markdown, and the other fields are metadata. Any other value is laid out in the order it is
// written: objects as sections and "name: value" lines, arrays of flat objects as tables, other arrays as lists. It is
// safe for concurrent use.
type JSON struct{ cfg JSONConfig }

var (
	_ rag.Loader    = (*JSON)(nil)
	_ rag.Formatter = (*JSON)(nil)
)

// NewJSON returns a loader of JSON. An unknown encoding is ErrInvalid.
func NewJSON(cfg JSONConfig) (*JSON, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	return &JSON{cfg}, nil
}

// Formats says: by extension; other text may begin like JSON.
func (*JSON) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "json",
		Extensions: []string{".json", ".jsonl", ".ndjson", ".geojson"},
		MediaTypes: []string{"application/json", "application/jsonl", "application/x-ndjson", "application/geo+json"},
	}}
}

// Load yields a document for each value or record of src. What is no JSON is ErrInvalid, and the error names the line.
func (j *JSON) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return several(ctx, src, j.cfg.MaxBytes, j.parse)
}

func (j *JSON) parse(ctx context.Context, _ rag.Source, data []byte, yield func(rag.Document) bool) error {
	d, err := decode(data, j.cfg.Encoding, "")
	if err != nil {
		return err
	}
	r := newJSONReader(ctx, d.text)
	first := true
	give := func(v jsonValue) bool {
		doc := j.document(v)
		if first {
			doc.Warnings, first = d.warnings, false
		}
		return yield(doc)
	}
	for {
		v, err := r.next()
		switch {
		case errors.Is(err, io.EOF) && first:
			return fmt.Errorf("there is no value in it: %w", rag.ErrInvalid)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		parts := []jsonValue{v}
		if j.allRecords(v) {
			parts = v.items
		}
		for _, part := range parts {
			if !give(part) {
				return nil
			}
		}
	}
}

// Names of the fields that usually hold what a record is about.
var (
	textFields  = []string{"text", "content", "body", "page_content"}
	titleFields = []string{"title", "name", "headline"}
)

// field returns the name of a field of v that is a string: the one that is set, else the first of the usual ones.
func field(v jsonValue, set string, usual []string) string {
	if set != "" {
		usual = []string{set}
	}
	for _, name := range usual {
		if f, ok := v.field(name); ok && f.kind == jsonString && strings.TrimSpace(f.text) != "" {
			return name
		}
	}
	return ""
}

// allRecords reports whether v is an array of records.
func (j *JSON) allRecords(v jsonValue) bool {
	if v.kind != jsonArray || len(v.items) == 0 {
		return false
	}
	for _, item := range v.items {
		if field(item, j.cfg.Text, textFields) == "" {
			return false
		}
	}
	return true
}

// document makes a document of one value.
func (j *JSON) document(v jsonValue) rag.Document {
	var doc rag.Document
	title := field(v, j.cfg.Title, titleFields)
	if title != "" {
		f, _ := v.field(title)
		doc.Title = mdtext.Line(f.text)
	}
	var headings []heading
	if text := field(v, j.cfg.Text, textFields); text != "" {
		f, _ := v.field(text)
		doc.Text = normalise(f.text)
		headings, _ = markdownOutline(doc.Text)
		rest := map[string]any{}
		for i, name := range v.names {
			if name != text && name != title {
				rest[name] = v.items[i].plain()
			}
		}
		doc.Meta = flatMeta(rest)
		doc.Language = metaText(doc.Meta, "lang", "language")
	} else {
		w := jsonWriter{}
		w.value("", v, 0)
		doc.Text, headings = w.out.text(), w.headings
	}
	doc.Sections = sections(headings, len(doc.Text))
	if strings.TrimSpace(doc.Text) == "" {
		doc.Text, doc.State = "", rag.StateEmpty
	}
	return doc
}
