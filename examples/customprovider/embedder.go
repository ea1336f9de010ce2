package main

import (
	"context"
	"hash/fnv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// TrigramEmbedder is an embedder without a model: it counts the letter trigrams of a text in 256 buckets.
type TrigramEmbedder struct{}

// Model describes the vectors. Change Revision when they change: collections built before will refuse.
func (TrigramEmbedder) Model() rag.EmbedModel {
	return rag.EmbedModel{Name: "trigrams", Revision: "1", Dims: 256}
}

// Embed returns one vector per text. The engine scales them to unit length.
func (TrigramEmbedder) Embed(ctx context.Context, _ rag.EmbedRole, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = make([]float32, 256)
		padded := " " + strings.ToLower(text) + "  "
		for j := range len(padded) - 2 {
			h := fnv.New32a()
			h.Write([]byte(padded[j : j+3]))
			vectors[i][h.Sum32()%256]++
		}
	}
	return vectors, nil
}
