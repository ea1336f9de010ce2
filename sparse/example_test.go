package sparse_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

func Example() {
	ctx := context.Background()
	index, err := sparse.OpenBM25("", sparse.BM25Config{}) // "" keeps the words in memory
	if err != nil {
		fmt.Println(err)
		return
	}
	defer index.Close()
	err = index.Upsert(ctx, "harbour", []rag.TextRecord{
		{ID: "ferry", Text: "The last ferry leaves at 22:40."},
		{ID: "berth", Text: "Berths cost 12 euros a night."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	matches, err := index.Search(ctx, "harbour", rag.SparseQuery{Text: "what does a berth cost?", K: 10})
	fmt.Println(len(matches), matches[0].ID, err)
	// Output: 1 berth <nil>
}
