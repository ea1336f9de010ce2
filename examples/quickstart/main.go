// Quickstart: ingest a folder, print the passages for a question, and the answer.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

func main() {
	if err := run(context.Background(), "examples/handbook", "how many days of annual leave do I get?"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, folder, question string) error {
	dir, err := os.MkdirTemp("", "rag-quickstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	eng, err := rag.Open(dir) // no key, no service, no download
	if err != nil {
		return err
	}
	defer eng.Close()

	report, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}})
	if err != nil {
		return err // errors.Is(err, rag.ErrPartial): report.Failed lists the sources, the rest is searchable
	}
	fmt.Printf("%d documents, %d passages\n", report.Added, report.Chunks.New)

	result, err := eng.Search(ctx, rag.Query{Text: question, TopK: 3})
	if err != nil {
		return err
	}
	for i, hit := range result.Hits {
		fmt.Printf("%d. %s: %s\n   %v\n   %.80q\n", i+1, hit.Chunk.URI, strings.Join(hit.Chunk.Headings, " › "), hit.Trail, hit.Chunk.Text)
	}

	answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: question}})
	if err != nil {
		return err // a refusal is no error: answer.Refused and answer.Reason tell it
	}
	fmt.Printf("\n%s\n%s, confidence %.2f\n", answer.Text, answer.Reliability, answer.Confidence)
	for _, c := range answer.Citations {
		source, _ := answer.Source(c.Marker)
		fmt.Printf("[%d] %s: %q\n", c.Marker, source.Hit.Chunk.URI, c.Quote)
	}
	return nil
}
