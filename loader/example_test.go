package loader_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
)

func Example() {
	ctx := context.Background()
	md, err := loader.NewMarkdown(loader.MarkdownConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	note := []byte("---\nyear: 2026\n---\n# Ferries\n\nThe last ferry leaves at 22:40.\n")
	for src := range rag.Bytes("mem:///harbour.md", note).All {
		for doc, err := range md.Load(ctx, src) {
			fmt.Println(doc.Title, doc.Meta, len(doc.Sections), err)
		}
	}
	// Output: Ferries map[year:2026] 1 <nil>
}
