package rag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// RerankStatus says what became of reranking in a search.
type RerankStatus struct {
	Status string `json:"status"`           // one of the Rerank constants
	Reason string `json:"reason,omitempty"` // of RerankFailed, RerankTimeout and RerankLeftOut, for people
}

// What became of reranking. In all cases but RerankOK the order of fusion stands.
const (
	RerankOff     = "off"      // not configured, or there was nothing to rerank
	RerankOK      = "ok"       // the first hits are in the reranker's order
	RerankFailed  = "failed"   // it gave an error
	RerankTimeout = "timeout"  // it did not answer in time
	RerankLeftOut = "left_out" // the question is in a language that its model does not know
)

// rerank puts the first candidates into the reranker's order within its time. Whatever goes wrong, the fusion order
// stands and the result says why.
func (s *search) rerank(ctx context.Context) {
	if s.reranker == nil || len(s.hits) == 0 {
		return
	}
	var model RerankModel
	if d, ok := s.reranker.(RerankDescriber); ok {
		model = d.RerankModel()
	}
	if reason := foreign(s.language, model.Languages); reason != "" {
		s.result.Rerank = RerankStatus{RerankLeftOut, reason}
		s.note(StageRerank, SpanLeftOut, reason)
		s.spans[StageRerank].Detail["status"], s.spans[StageRerank].Detail["fallback"] = RerankLeftOut, true
		return
	}
	span, start := s.begin(StageRerank)
	defer s.end(span, start)
	head := s.hits[:min(len(s.hits), s.config.Retrieval.RerankTopN)]
	span.In, span.Out = len(head), len(head)
	scores, err := s.rerankScores(ctx, model, head, span)
	if err != nil {
		s.result.Rerank = RerankStatus{RerankFailed, err.Error()}
		if errors.Is(err, context.DeadlineExceeded) {
			s.result.Rerank.Status = RerankTimeout
		}
		s.note(StageRerank, SpanFailed, "the fusion order stands: "+err.Error())
		span.fail(err)
		span.Detail["status"], span.Detail["fallback"] = s.result.Rerank.Status, true
		return
	}
	s.result.Rerank.Status = RerankOK
	span.Detail["status"], span.Detail["fallback"] = RerankOK, false
	before := make(map[string]int, len(s.hits))
	for i, h := range s.hits {
		before[h.Chunk.ID] = i + 1
	}
	lastFused := head[len(head)-1].Score
	blend(head, scores, s.config.Retrieval.RerankWeight)
	slices.SortStableFunc(head, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(before[a.Chunk.ID], before[b.Chunk.ID]))
	})
	for i := range head {
		head[i].Trail = append(head[i].Trail, Rank{StageRerank, i + 1, head[i].Score})
	}
	// Those behind keep their distances, and go on from the lowest score in front: a list never rises.
	for i := len(head); i < len(s.hits); i++ {
		s.hits[i].Score += head[len(head)-1].Score - lastFused
	}
	s.rankRerank(span, before)
}

// blend replaces the hits' scores: by the reranker's own, or by weight parts of it and the rest of fusion's, both
// stretched to [0, 1].
func blend(hits []Hit, scores []float64, weight float64) {
	fused := make([]float64, len(hits))
	for i := range hits {
		fused[i], hits[i].Score = hits[i].Score, scores[i]
	}
	if weight == 1 {
		return
	}
	scores, fused = stretch(scores), stretch(fused)
	for i := range hits {
		hits[i].Score = weight*scores[i] + (1-weight)*fused[i]
	}
}

// stretch maps scores to [0, 1]. Scores that are all equal tell nothing apart: all become 0.
func stretch(scores []float64) []float64 {
	lo, hi := slices.Min(scores), slices.Max(scores)
	out := make([]float64, len(scores))
	for i, x := range scores {
		if hi > lo {
			out[i] = (x/2 - lo/2) / (hi/2 - lo/2) // halved first: hi-lo may overflow
		}
	}
	return out
}

// rerankScores returns a score for each hit, those it remembers without asking again.
func (s *search) rerankScores(ctx context.Context, model RerankModel, hits []Hit, span *Span) ([]float64, error) {
	texts := make([]string, len(hits))
	windows := 0
	for i := range hits {
		texts[i] = hits[i].Chunk.Text
		if w := s.rerankWindow(model, texts[i]); len(w) < len(texts[i]) {
			texts[i] = w
			windows++
		}
	}
	span.Detail["windows"] = windows
	remember := model.Name != "" && !model.Listwise
	scores, missing := make([]float64, len(texts)), []int{}
	for i, text := range texts {
		known := false
		if remember {
			scores[i], known = s.scores.get(scoreKey(model.Name, s.text, text))
		}
		if !known {
			missing = append(missing, i)
		}
	}
	span.Detail["remembered"] = len(texts) - len(missing)
	if len(missing) == 0 {
		return scores, nil
	}
	ask := make([]string, len(missing))
	for j, i := range missing {
		ask[j] = texts[i]
	}
	got, err := s.rerankWithin(ctx, ask)
	if err != nil {
		return nil, err
	}
	for j, i := range missing {
		scores[i] = got[j]
		if remember {
			s.scores.put(scoreKey(model.Name, s.text, ask[j]), got[j])
		}
	}
	return scores, nil
}

// rerankWithin calls the reranker within its time. A call that ignores its context is left behind.
func (s *search) rerankWithin(ctx context.Context, texts []string) ([]float64, error) {
	budget := time.Duration(s.config.Retrieval.RerankMS) * time.Millisecond
	return within(ctx, &s.abandoned, "the reranker", budget, func(ctx context.Context) ([]float64, error) {
		scores, err := s.reranker.Rerank(ctx, s.text, texts)
		if err == nil {
			err = checkScores(scores, len(texts))
		}
		return scores, err
	})
}

// checkScores reports a reply that breaks the contract.
func checkScores(scores []float64, texts int) error {
	if len(scores) != texts {
		return fmt.Errorf("the reranker gave %d scores for %d texts: %w", len(scores), texts, ErrInvalid)
	}
	for i, x := range scores {
		if x-x != 0 { // not a number, or infinite
			return fmt.Errorf("the reranker gave text %d the score %v: %w", i, x, ErrInvalid)
		}
	}
	return nil
}
