package vectorstore_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore"
)

func Example() {
	ctx := context.Background()
	store, err := vectorstore.OpenHNSW("", vectorstore.HNSWConfig{}) // "" keeps the vectors in memory
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	err = store.Upsert(ctx, "harbour", []rag.VectorRecord{
		{ID: "ferry", Vector: []float32{1, 0}, Meta: rag.Meta{"year": 2026.0}},
		{ID: "berth", Vector: []float32{0.6, 0.8}, Meta: rag.Meta{"year": 2025.0}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	matches, err := store.Search(ctx, "harbour", rag.VectorQuery{Vector: []float32{1, 0}, K: 1, Filter: rag.Eq("year", 2025)})
	fmt.Println(matches[0].ID, err)
	// Output: berth <nil>
}
