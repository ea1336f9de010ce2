package verify_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/verify"
)

func Example() {
	v, err := verify.NewOverlap(nil, verify.OverlapConfig{}) // words and numbers only; with an embedder other wordings too
	if err != nil {
		fmt.Println(err)
		return
	}
	const passage = "The last ferry leaves at 22:40."
	verdicts, err := v.Verify(context.Background(), []rag.Claim{
		{Text: "The last ferry leaves at 22:40.", Passage: passage},
		{Text: "The last ferry leaves at 23:40.", Passage: passage},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, verdict := range verdicts {
		fmt.Println(verdict.Supported, verdict.Reason)
	}
	// Output:
	// true the passage says so word by word: The last ferry leaves at 22:40.
	// false the passage does not have the number 23:40
}
