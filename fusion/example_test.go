package fusion_test

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/fusion"
)

func Example() {
	fuse, err := fusion.RRF(fusion.RRFConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range fuse([]rag.Ranking{
		{Stage: rag.StageDense, Weight: 1, Matches: []rag.Match{{ID: "ferry", Score: 0.8}, {ID: "berth", Score: 0.7}}},
		{Stage: rag.StageSparse, Weight: 1, Matches: []rag.Match{{ID: "berth", Score: 9.1}}},
	}) {
		fmt.Printf("%s %.4f\n", m.ID, m.Score)
	}
	// Output:
	// berth 0.0325
	// ferry 0.0164
}
