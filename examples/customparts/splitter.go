package main

import (
	"context"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
)

// Paragraphs is a splitter that makes a chunk of each paragraph, however long. Those that come with the module look at
// the embedder's window.
type Paragraphs struct{}

// Split cuts at empty lines. A chunk is a piece of the text, byte for byte, without blanks around it.
func (Paragraphs) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	var chunks []rag.Chunk
	start := 0
	for paragraph := range strings.SplitAfterSeq(doc.Text, "\n\n") {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := start + len(paragraph) - len(strings.TrimLeftFunc(paragraph, unicode.IsSpace))
		start += len(paragraph)
		text := strings.TrimSpace(paragraph)
		if text == "" {
			continue
		}
		chunks = append(chunks, rag.Chunk{
			Text: text, Start: at, End: at + len(text),
			Page: doc.Page(at), Headings: doc.HeadingsAt(at),
		})
	}
	return chunks, nil
}
