package main

import (
	"context"
	"path"

	"github.com/seed-d8745b77/rag"
)

// FileName is a transformer that lets passages be found by the name of their file.
type FileName struct{}

// Transform writes to Context, which the indexes see and nobody cites. The text of a chunk is never changed.
func (FileName) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range chunks {
		if chunks[i].Context != "" { // of a transformer before this one
			chunks[i].Context += "\n"
		}
		chunks[i].Context += path.Base(doc.URI)
	}
	return chunks, nil
}

// Fingerprint changes when Transform does other work: documents are then ingested again.
func (FileName) Fingerprint() string { return "file-name/1" }
