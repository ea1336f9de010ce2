package ragtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestHashEmbedderRanksByWords(t *testing.T) {
	h := &ragtest.HashEmbedder{}
	v, err := h.Embed(t.Context(), rag.AsPassage, []string{
		"The cat sat on the mat.", "the CAT, on a mat", "Quarterly revenue grew strongly",
	})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near <= far {
		t.Errorf("shared words %.3f, none shared %.3f: want the first larger", near, far)
	}
	if h.Calls() != 1 || h.Texts() != 3 {
		t.Errorf("got %d calls of %d texts, want 1 of 3", h.Calls(), h.Texts())
	}
}

func TestHashEmbedderBeforeFails(t *testing.T) {
	broken := errors.New("broken")
	h := &ragtest.HashEmbedder{Before: func(context.Context, rag.EmbedRole, []string) error { return broken }}
	if _, err := h.Embed(t.Context(), rag.AsPassage, []string{"a"}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of Before", err)
	}
	if h.Calls() != 1 || h.Texts() != 0 {
		t.Errorf("got %d calls of %d texts, want 1 of 0", h.Calls(), h.Texts())
	}
}

func TestHashEmbedderCountsWords(t *testing.T) {
	h := &ragtest.HashEmbedder{}
	if got := h.CountTokens("Don't panic: 42 answers"); got != 5 {
		t.Errorf("got %d words, want 5", got)
	}
}
