package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// SharedWords is a reranker that scores a passage by how much of the question's words it has. Long words count more: they
// say more.
type SharedWords struct {
	MinLetters int // shorter words do not count
}

// Rerank returns a score for each text. The engine sorts, cuts, keeps the deadline and remembers where each passage stood.
func (s SharedWords) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	asked := words(query)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		have := words(text)
		shared, all := 0, 0 // letters
		for word := range asked {
			if utf8.RuneCountInString(word) < s.MinLetters {
				continue
			}
			all += len(word)
			if have[word] {
				shared += len(word)
			}
		}
		scores[i] = float64(shared) / float64(max(all, 1))
	}
	return scores, ctx.Err()
}

// RerankModel names the reranker: scores are remembered under this name, which changes with what changes them.
func (s SharedWords) RerankModel() rag.RerankModel {
	return rag.RerankModel{Name: fmt.Sprintf("shared-words/1/%d", s.MinLetters)}
}
