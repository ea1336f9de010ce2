package catalog_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
)

func Example() {
	ctx := context.Background()
	c := catalog.NewMemory() // OpenBolt keeps them in a folder
	doc := rag.Document{ID: "d", URI: "mem:///ferry.md", Text: "The last ferry leaves at 22:40."}
	chunk := rag.Chunk{ID: "c", DocID: "d", URI: doc.URI, Text: doc.Text, End: len(doc.Text)}
	err := c.Commit(ctx, "harbour", []rag.Change{{Put: &rag.Record{
		Entry:    rag.Entry{URI: doc.URI, DocID: "d", Chunks: []rag.ChunkRef{{ID: "c"}}},
		Document: doc, Chunks: []rag.Chunk{chunk},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	live, err := c.Chunks(ctx, "harbour", []string{"c", "gone"})
	fmt.Println(len(live), live[0].Text, err)
	// Output: 1 The last ferry leaves at 22:40. <nil>
}
