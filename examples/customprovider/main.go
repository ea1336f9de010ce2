// Customprovider plugs an embedder and a loader of its own into the engine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// TrigramEmbedder is an embedder without a model: it counts the letter trigrams of a text in 256 buckets.
type TrigramEmbedder struct{}

// Model describes the vectors. Change Revision when they change: collections built before will refuse.
func (TrigramEmbedder) Model() rag.EmbedModel {
	return rag.EmbedModel{Name: "trigrams", Revision: "1", Dims: 256}
}

// Embed returns one vector per text. The engine scales them to unit length.
func (TrigramEmbedder) Embed(ctx context.Context, _ rag.EmbedRole, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = make([]float32, 256)
		padded := " " + strings.ToLower(text) + "  "
		for j := range len(padded) - 2 {
			h := fnv.New32a()
			h.Write([]byte(padded[j : j+3]))
			vectors[i][h.Sum32()%256]++
		}
	}
	return vectors, nil
}

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

func run(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp("", "rag-custom")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	eng, err := rag.Open(dir, rag.WithEmbedder(TrigramEmbedder{}), rag.WithLoader("notes", NotesLoader{}))
	if err != nil {
		return err
	}
	defer eng.Close()
	notes := rag.Bytes("mem:///plants.notes", []byte(`[{"title": "Ferns", "body": "Ferns reproduce by spores."},
		{"title": "Oaks", "body": "Acorns of the oak feed squirrels."}]`))
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{notes}}); err != nil {
		return err
	}
	result, err := eng.Search(ctx, rag.Query{Text: "how do ferns reproduce?", TopK: 1})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %s\n", result.Hits[0].Chunk.Headings[0], result.Hits[0].Chunk.Text)
	return err
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}
