package local_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag/rerank/local"
)

// `rag models pull ms-marco-minilm-l6` fetches the model.
func Example() {
	r, err := local.New(local.Config{Model: "ms-marco-minilm-l6"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, err := r.Rerank(context.Background(), "when does the last ferry leave?", []string{"The last ferry leaves at 22:40.", "A berth costs 12 euros."})
	fmt.Println(scores, err)
}
