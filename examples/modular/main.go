// Modular runs the example with a reranker of its own: one method, a name in the registry, and the configuration does
// the rest. It prints what each stage moved, which the command shows only for the built-in ones.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// names ranks passages by how many names and codes of the question they hold.
type names struct{}

// Rerank counts; passages that hold equally many keep the order in which they come.
func (names) Rerank(_ context.Context, query string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, text := range texts {
		for _, word := range strings.FieldsFunc(query, func(r rune) bool { return unicode.IsSpace(r) || r == '?' }) {
			if strings.ContainsFunc(word[1:], unicode.IsUpper) || strings.ContainsFunc(word, unicode.IsDigit) {
				scores[i] += float64(strings.Count(text, word))
			}
		}
	}
	return scores, nil
}

func main() {
	if err := run(context.Background(), os.Stdout, ".", "Which buoys had the swivel S1?"); err != nil {
		log.Fatal(err)
	}
}

// run ingests the documents of the example into a temporary folder and asks one question.
func run(ctx context.Context, out io.Writer, example, question string) error {
	rag.Default.Rerankers.Register("names", func(rag.Env, json.RawMessage) (rag.Reranker, error) { return names{}, nil })
	loaded, err := config.Load(example + "/rag.yaml")
	if err != nil {
		return err
	}
	loaded.Config.Rerank = rag.ProviderConfig{Provider: "names"}
	dir, err := os.MkdirTemp("", "modular")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	eng, err := rag.Open(dir, rag.WithConfig(loaded.Config), rag.WithGetenv(os.Getenv))
	if err != nil {
		return err
	}
	defer eng.Close()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(example + "/docs")}}); err != nil {
		return err
	}
	res, err := eng.Search(ctx, rag.Query{Text: question, Explain: true})
	if err != nil {
		return err
	}
	for _, s := range res.Trace.Stages {
		if m := s.Moves; m != nil {
			fmt.Fprintf(out, "%s by %s: %d up (by %d at most), %d down, %d unchanged, %d dropped\n", s.Stage, s.Method, m.MovedUp, m.MaxGain, m.MovedDown, m.Unchanged, m.Dropped)
		}
	}
	for i, h := range res.Hits {
		fmt.Fprintf(out, "%d. %s: %s\n", i+1, h.Chunk.URI[strings.LastIndex(h.Chunk.URI, "/")+1:], strings.Join(h.Chunk.Headings, " › "))
	}
	return nil
}
