package llm_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/llm"
	"github.com/seed-d8745b77/rag/ragtest"
)

func Example() {
	down := &ragtest.Script{Turns: []ragtest.Turn{{Err: rag.ErrUnavailable}}} // stands for a service that does not answer
	local := &ragtest.Script{Replies: []string{"At 22:40."}}                  // and for llm.NewOllama
	model, err := llm.NewFailover(nil, down, local)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := rag.ChatRequest{Messages: []rag.ChatMessage{{Role: rag.RoleUser, Text: "When does the last ferry leave?"}}}
	for piece, err := range model.Chat(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(piece.Text)
	}
	// Output: At 22:40.
}
