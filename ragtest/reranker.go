package ragtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestReranker checks that a reranker keeps the promises of [rag.Reranker]. open makes a fresh one each time.
func TestReranker(t *testing.T, open func(t *testing.T) rag.Reranker) {
	const query = "how long does a battery last"
	texts := []string{"The battery lasts ten hours.", "A duck is a bird.", "", strings.Repeat("A very long passage about batteries. ", 400), "电池可以用十个小时。"}

	t.Run("there is one finite score for each text", func(t *testing.T) {
		scores := rerank(t, open(t), query, texts)
		if len(scores) != len(texts) {
			t.Fatalf("%d scores for %d texts", len(scores), len(texts))
		}
		for i, s := range scores {
			if math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("text %d has the score %v", i, s)
			}
		}
	})
	t.Run("scores are in the order of the texts", func(t *testing.T) {
		r := open(t)
		forward := rerank(t, r, query, texts[:2])
		backward := rerank(t, r, query, []string{texts[1], texts[0]})
		if forward[0] != backward[1] || forward[1] != backward[0] {
			t.Errorf("scores %v, and %v with the texts swapped", forward, backward)
		}
	})
	t.Run("a text that answers scores higher than one of another subject", func(t *testing.T) {
		if scores := rerank(t, open(t), query, texts[:2]); scores[0] <= scores[1] {
			t.Errorf("scores %v for %q", scores, texts[:2])
		}
	})
	t.Run("no texts give no scores", func(t *testing.T) {
		if scores := rerank(t, open(t), query, nil); len(scores) != 0 {
			t.Errorf("%d scores for no texts", len(scores))
		}
	})
	t.Run("the same input gives the same scores, also in many goroutines", func(t *testing.T) {
		r := open(t)
		want := rerank(t, r, query, texts)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := r.Rerank(t.Context(), query, texts)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v, scores (-before +now):\n%s", err, diff)
				}
			})
		}
		wg.Wait()
	})
	t.Run("queries at the same time do not disturb each other", func(t *testing.T) {
		r := open(t)
		queries := []string{query, "a duck", "电池", strings.Repeat("a very long query ", 200)}
		want := make([][]float64, len(queries))
		for i, q := range queries {
			want[i] = rerank(t, open(t), q, texts)
		}
		var wg sync.WaitGroup
		for i, q := range queries {
			wg.Go(func() {
				got, err := r.Rerank(t.Context(), q, texts)
				if diff := cmp.Diff(want[i], got); err != nil || diff != "" {
					t.Errorf("%.20q: error %v, scores (-alone +among others):\n%s", q, err, diff)
				}
			})
		}
		wg.Wait()
	})
	t.Run("the texts stay as they are", func(t *testing.T) {
		given := append([]string{}, texts...)
		rerank(t, open(t), query, given)
		if diff := cmp.Diff(texts, given); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Rerank(ctx, query, texts); !errors.Is(err, context.Canceled) {
			t.Errorf("Rerank gave error %v, want context.Canceled", err)
		}
	})
}

func rerank(t *testing.T, r rag.Reranker, query string, texts []string) []float64 {
	t.Helper()
	scores, err := r.Rerank(t.Context(), query, texts)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// OverlapReranker scores a text by the share of the query's words that are in it. It is a fake for tests of what uses
// a reranker. The zero value is ready to use; set the fields before the first call.
type OverlapReranker struct {
	// Wait, if not nil, makes each call wait until a value can be received or the channel is closed, or ctx ends.
	Wait <-chan struct{}
	// Err, if not nil, is what each call fails with, after waiting.
	Err error
}

var _ rag.Reranker = (*OverlapReranker)(nil)

// Rerank returns a score from 0 to 1 for each text.
func (r *OverlapReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.Wait != nil {
		select {
		case <-r.Wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if r.Err != nil {
		return nil, r.Err
	}
	words := strings.Fields(strings.ToLower(query))
	scores := make([]float64, len(texts))
	for i, text := range texts {
		text = strings.ToLower(text)
		found := 0
		for _, w := range words {
			if strings.Contains(text, w) {
				found++
			}
		}
		scores[i] = float64(found) / float64(max(1, len(words)))
	}
	return scores, nil
}
