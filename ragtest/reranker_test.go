package ragtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestOverlapReranker(t *testing.T) {
	ragtest.TestReranker(t, func(*testing.T) rag.Reranker { return &ragtest.OverlapReranker{} })

	t.Run("it fails when told to", func(t *testing.T) {
		r := &ragtest.OverlapReranker{Err: rag.ErrUnavailable}
		if _, err := r.Rerank(t.Context(), "q", []string{"a"}); !errors.Is(err, rag.ErrUnavailable) {
			t.Errorf("error %v, want ErrUnavailable", err)
		}
	})
	t.Run("it waits until it may go on", func(t *testing.T) {
		wait := make(chan struct{})
		r := &ragtest.OverlapReranker{Wait: wait}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := r.Rerank(ctx, "q", []string{"a"})
			done <- err
		}()
		wait <- struct{}{}
		if err := <-done; err != nil {
			t.Errorf("released: error %v", err)
		}
		go func() {
			_, err := r.Rerank(ctx, "q", []string{"a"})
			done <- err
		}()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: error %v, want context.Canceled", err)
		}
	})
}
