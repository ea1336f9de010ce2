// Customparts has a small provider of one's own for every contract that examples/customprovider and examples/customstore
// leave out, each in a file of its own, and an engine of all of them.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// run ingests a note and answers a question. A chat model may write the answer; nil: it is made of sentences.
func run(ctx context.Context, w io.Writer, chat rag.ChatModel) error {
	var traces bytes.Buffer
	eng, err := rag.Open("", // nothing on disk
		rag.WithCatalog(Announced{catalog.NewMemory(), func(_ string, uris []string) {
			fmt.Fprintf(w, "changed: %s\n", strings.Join(uris, ", "))
		}}),
		rag.WithSplitter(Paragraphs{}),
		rag.WithTransformers(FileName{}),
		rag.WithQueryTransformers(Abbreviations{"pto": "paid leave"}),
		rag.WithFuser(BestRank),
		rag.WithReranker(SharedWords{}),
		rag.WithChatModel(chat),
		rag.WithVerifier(Verbatim{}),
		rag.WithTraceSink(NewLines(&traces)),
	)
	if err != nil {
		return err
	}
	defer eng.Close()

	note := rag.Bytes("mem:///leave.md", []byte("Everybody has 28 days of paid leave a year.\n\nLaptops are returned on the last day.\n"))
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{note}}); err != nil {
		return err
	}
	answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "How many days of PTO do I have?"}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s (%s, verified: %v)\n", answer.Text, answer.Mode, answer.Verified)
	fmt.Fprintf(w, "%d traces\n", bytes.Count(traces.Bytes(), []byte("\n")))
	return nil
}

func main() {
	if err := run(context.Background(), os.Stdout, nil); err != nil {
		log.Fatal(err)
	}
}
