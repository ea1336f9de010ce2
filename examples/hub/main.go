// Hub runs the example and shows each step of a question as it happens: the route, every stage of the search with its hits,
// and the answer while it is written.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
)

func main() {
	for _, question := range []string{"hello", "what do the runbooks say about workers?", "what is the difference between decision 7 and decision 19?"} {
		if err := run(context.Background(), os.Stdout, ".", question); err != nil {
			log.Fatal(err)
		}
	}
}

// run ingests the documents of the example into a temporary folder and asks one question.
func run(ctx context.Context, out io.Writer, example, question string, opts ...rag.Option) error {
	loaded, err := config.Load(example + "/rag.yaml")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// An option goes before the file: a chat model that is given here needs no key in it.
	eng, err := rag.Open(dir, append([]rag.Option{rag.WithConfig(loaded.Config), rag.WithGetenv(os.Getenv)}, opts...)...)
	if err != nil {
		return err
	}
	defer eng.Close()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(example + "/docs")}}); err != nil {
		return err
	}
	settings, err := agent.ParseConfig(loaded.Config.Agent)
	if err != nil {
		return err
	}
	router, err := agent.New(eng, settings)
	if err != nil {
		return err
	}
	decision, err := router.Route(ctx, question, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\nrouting: %s, %.2f by %s\n", question, decision.Intent, decision.Confidence, decision.By)
	query := rag.Query{Text: question, Progress: func(s rag.StageDone) { fmt.Fprintf(out, "%s: %d hits\n", s.Stage, s.Hits) }}
	for event, err := range router.Follow(ctx, rag.AskRequest{Query: query}, decision) {
		if err != nil {
			return err
		}
		fmt.Fprint(out, event.Text)
	}
	_, err = fmt.Fprint(out, "\n\n")
	return err
}
