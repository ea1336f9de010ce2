package rag_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// harbour is a note that examples ask.
func harbour(tenant, text string) rag.Sources {
	set := rag.Bytes("mem:///"+tenant+".md", []byte(text))
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for src, err := range set.All {
			src.Meta = rag.Meta{"tenant": tenant}
			if !yield(src, err) {
				return
			}
		}
	}}
}

func Example() {
	ctx := context.Background()
	eng, err := rag.Open("") // a folder keeps what is ingested; "" keeps nothing
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	note := rag.Bytes("mem:///harbour.md", []byte("The last ferry leaves at 22:40.\n"))
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{note}}); err != nil {
		fmt.Println(err)
		return
	}
	result, err := eng.Search(ctx, rag.Query{Text: "when does the last ferry leave?", TopK: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Hits[0].Chunk.Text)
	answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "when does the last ferry leave?"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.Mode)
	// Output:
	// The last ferry leaves at 22:40.
	// The last ferry leaves at 22:40. [1] extractive
}

func ExampleEngine_Scoped() {
	ctx := context.Background()
	eng, err := rag.Open("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	sets := []rag.Sources{harbour("red", "The red ferry leaves at 22:40.\n"), harbour("blue", "The blue ferry leaves at 23:10.\n")}
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: sets}); err != nil {
		fmt.Println(err)
		return
	}
	view := eng.Scoped(rag.Eq("tenant", "red")) // what one tenant may see
	result, err := view.Search(ctx, rag.Query{Text: "when does the ferry leave?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range result.Hits {
		fmt.Println(hit.Chunk.Text)
	}
	// Output: The red ferry leaves at 22:40.
}
