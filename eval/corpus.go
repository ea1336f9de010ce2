package eval

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// beirType makes the engine choose the loader of a set.
const beirType = "application/x-beir-document"

const beirScheme = "beir:"

// beirURI is the URI of a document of a set.
func beirURI(id string) string { return beirScheme + id }

// Sources returns the documents as an engine with [BEIR.Options] ingests them.
func (s *BEIR) Sources() rag.Sources {
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for _, d := range s.Docs {
			src := rag.Source{URI: beirURI(d.ID), MediaType: beirType, Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(d.FullText())), nil
			}}
			if !yield(src, nil) {
				return
			}
		}
	}}
}

// Options make an engine read the documents of the set. Each is one passage, as published figures have it, unless split is
// true: then the configured splitter cuts them.
func (s *BEIR) Options(split bool) []rag.Option {
	loader := beirLoader{}
	for _, d := range s.Docs {
		loader[beirURI(d.ID)] = d
	}
	opts := []rag.Option{rag.WithLoader("beir", loader)}
	if !split {
		opts = append(opts, rag.WithSplitter(wholeDocument{}))
	}
	return opts
}

// beirLoader gives documents of a set their title, by URI.
type beirLoader map[string]BEIRDoc

// Formats returns the type that the set's sources state.
func (beirLoader) Formats() []rag.Format {
	return []rag.Format{{Name: "beir", MediaTypes: []string{beirType}}}
}

// Load returns the document of a source.
func (l beirLoader) Load(_ context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		if d, ok := l[src.URI]; ok {
			if strings.TrimSpace(d.Text) == "" {
				d.Title, d.Text = "", d.Title // a title alone can be found, too
			}
			yield(rag.Document{Title: d.Title, Text: strings.ReplaceAll(d.Text, "\r", "\n")}, nil)
			return
		}
		yield(rag.Document{}, rag.ErrNotFound)
	}
}

// wholeDocument makes one passage of each document.
type wholeDocument struct{}

// Split returns the text as one passage; none if it is blank.
func (wholeDocument) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	if strings.TrimSpace(doc.Text) == "" {
		return nil, nil
	}
	return []rag.Chunk{{Text: doc.Text, End: len(doc.Text)}}, nil
}

// BEIRID returns the ID that a document has in its set, of the URI that [BEIR.Sources] gave it.
func BEIRID(uri string) string { return strings.TrimPrefix(uri, beirScheme) }
