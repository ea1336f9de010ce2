package ragtest_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

// An engine of fakes, for tests of a program: no model, and a chat model that says what it is told to.
func Example() {
	ctx := context.Background()
	text, err := loader.NewText(loader.TextConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := rag.Open("", rag.WithCatalog(catalog.NewMemory()), rag.WithLoader("text", text),
		rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithChatModel(&ragtest.Script{Replies: []string{"At 22:40 [1]."}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	note := rag.Bytes("mem:///harbour.txt", []byte("The last ferry leaves at 22:40.\n"))
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{note}}); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "When does the last ferry leave?"}})
	fmt.Println(answer.Text, err)
	// Output: At 22:40 [1]. <nil>
}
