package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/seed-d8745b77/rag"
)

// NotesLoader reads a JSON array of {"title", "body"} objects from files that end in .notes.
type NotesLoader struct{}

// Formats tells the engine which sources are for this loader.
func (NotesLoader) Formats() []rag.Format {
	return []rag.Format{{Name: "notes", Extensions: []string{".notes"}, MediaTypes: []string{"application/x-notes"}}}
}

// Load yields one document with a section for each note.
func (NotesLoader) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		doc, err := readNotes(ctx, src)
		yield(doc, err)
	}
}

func readNotes(ctx context.Context, src rag.Source) (rag.Document, error) {
	r, err := src.Open(ctx)
	if err != nil {
		return rag.Document{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return rag.Document{}, err
	}
	var notes []struct{ Title, Body string }
	if err := json.Unmarshal(data, &notes); err != nil {
		return rag.Document{}, fmt.Errorf("notes: %v: %w", err, rag.ErrInvalid)
	}
	if err := ctx.Err(); err != nil {
		return rag.Document{}, err
	}
	var doc rag.Document
	for _, n := range notes {
		start := len(doc.Text)
		doc.Text += "# " + n.Title + "\n\n" + n.Body + "\n\n"
		doc.Sections = append(doc.Sections, rag.Section{Level: 1, Title: n.Title, Start: start, End: len(doc.Text)})
	}
	return doc, nil
}
