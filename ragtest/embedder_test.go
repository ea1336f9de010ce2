package ragtest_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestHashEmbedder(t *testing.T) {
	ragtest.TestEmbedder(t, func(*testing.T) rag.Embedder { return &ragtest.HashEmbedder{Dims: 64, MaxTokens: 100} })
}
