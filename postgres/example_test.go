package postgres_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/postgres"
)

func ask(ctx context.Context, question string) error {
	at, err := config.Load("rag.yaml")
	if err != nil {
		return err
	}
	eng, err := rag.Open("data", rag.WithConfig(at.Config), rag.WithLockWait(time.Minute))
	if err != nil {
		return err
	}
	defer eng.Close()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir("docs")}}); err != nil {
		return err
	}
	res, err := eng.Search(ctx, rag.Query{Text: question})
	if err != nil {
		return err
	}
	for _, h := range res.Hits {
		fmt.Println(h.Score, h.Chunk.URI)
	}
	return nil
}

// This is the program of docs/postgres.md, with the settings that stand there.
func Example() {
	if err := ask(context.Background(), "How many days of leave are there?"); err != nil {
		fmt.Println(err)
	}
}
