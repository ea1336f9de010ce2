package rerank_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/rerank"
)

func Example() {
	r, err := rerank.NewMaxSim(&ragtest.HashEmbedder{}, rerank.MaxSimConfig{}) // an engine gives it its own embedder
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, err := r.Rerank(context.Background(), "when does the last ferry leave?",
		[]string{"A berth costs 12 euros a night.", "The last ferry leaves at 22:40."})
	fmt.Println(scores[1] > scores[0], err)
	// Output: true <nil>
}
