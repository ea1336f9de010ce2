// Customstore keeps vectors and words in stores of its own: two files of JSON lines.
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

// open opens an engine that keeps vectors and words in the stores of this program, and all else as usual.
func open(dir string) (*rag.Engine, error) {
	c := rag.DefaultConfig()
	c.VectorStore = rag.ProviderConfig{Provider: "lines"}
	c.SparseIndex = rag.ProviderConfig{Provider: "lines"}
	return rag.Open(dir, rag.WithConfig(c))
}

func run(ctx context.Context, w io.Writer, dir string) error {
	eng, err := open(dir)
	if err != nil {
		return err
	}
	notes := rag.Bytes("mem:///harbour.md", []byte("# Ferries\n\nThe last ferry leaves at 22:40.\n\n# Berths\n\nA berth costs 12 euros a night.\n"))
	report, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{notes}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d passages stored\n", report.Chunks.New)
	if err := eng.Close(); err != nil {
		return err
	}

	eng, err = open(dir) // what was stored is still there
	if err != nil {
		return err
	}
	defer eng.Close()
	result, err := eng.Search(ctx, rag.Query{Text: "when does the last ferry leave?", TopK: 1})
	if err != nil {
		return err
	}
	for _, hit := range result.Hits {
		fmt.Fprintf(w, "%s: %q (%s)\n", result.Mode, hit.Chunk.Text, hit.Trail)
	}
	return nil
}

func main() {
	dir, err := os.MkdirTemp("", "rag-customstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), os.Stdout, dir); err != nil {
		log.Print(err)
	}
}
