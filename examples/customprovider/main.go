// Customprovider plugs an embedder and a loader of its own into the engine.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

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
