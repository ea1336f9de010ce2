package transform_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/transform"
)

func Example() {
	doc := rag.Document{Title: "Harbour handbook"}
	chunks := []rag.Chunk{{Title: doc.Title, Text: "It leaves at 22:40.", Headings: []string{"Ferries", "Last ferry"}}}
	chunks, err := transform.NewContext().Transform(context.Background(), doc, chunks)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(chunks[0].IndexText()) // what the indexes see; cited is Text alone
	// Output:
	// Harbour handbook > Ferries > Last ferry
	// It leaves at 22:40.
}
