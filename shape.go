package rag

import (
	"context"
	"fmt"
	"slices"
)

// shaping is how the ranked passages of a search are made into hits.
type shaping struct {
	diversity   float64
	perDocument int
	collapse    float64
	neighbours  int
	parent      bool
	highlight   bool
}

// shaping takes what the query says, or else the configuration.
func (q Query) shaping(r *RetrievalConfig) shaping {
	return shaping{
		diversity: orDefault(q.Diversity, r.Diversity), perDocument: orDefault(q.MaxPerDocument, r.MaxPerDocument),
		collapse: orDefault(q.Collapse, r.Collapse), neighbours: orDefault(q.Neighbours, r.Neighbours),
		parent: orDefault(q.Parent, r.Parent), highlight: orDefault(q.Highlight, orDefault(r.Highlight, true)),
	}
}

func orDefault[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}

// validate reports what is out of its range.
func (p shaping) validate() error {
	switch {
	case !(p.diversity >= 0 && p.diversity <= 1):
		return fmt.Errorf("diversity is %v: it must be from 0 to 1: %w", p.diversity, ErrInvalid)
	case !(p.collapse >= 0 && p.collapse <= 1):
		return fmt.Errorf("collapse is %v: it must be from 0 to 1: %w", p.collapse, ErrInvalid)
	case p.perDocument < 0:
		return fmt.Errorf("max_per_document is %d: it must not be negative: %w", p.perDocument, ErrInvalid)
	case p.neighbours < 0:
		return fmt.Errorf("neighbours is %d: it must not be negative: %w", p.neighbours, ErrInvalid)
	}
	return nil
}

// ranks reports whether hits may fall or change places, besides the cut at top_k.
func (p shaping) ranks() bool { return p.diversity > 0 || p.perDocument > 0 || p.collapse > 0 }

// shape makes the final list of the ranked candidates: near-duplicates and more than the wanted passages of one document
// fall, diversity chooses among the rest, and the best top_k stay. It adds no hit, and without diversity the order stands.
func (s *search) shape(ctx context.Context) {
	span, start := s.begin(StageShape)
	defer s.end(span, start)
	s.pool = s.hits
	if s.hits = s.unlike; s.reranker != nil { // it changed the order
		s.hits = s.distinct(s.pool)
	}
	if s.shaping.diversity > 0 {
		s.hits = s.diversify(ctx, span, s.hits)
	}
	s.hits = s.hits[:min(len(s.hits), s.q.TopK)]
	span.In, span.Out = len(s.pool), len(s.hits)
	if !s.shaping.ranks() {
		span.Status = SpanOff
		return
	}
	before := make(map[string]int, len(s.pool))
	for i, h := range s.pool {
		before[h.Chunk.ID] = i + 1
	}
	for i := range s.hits {
		h := &s.hits[i]
		h.Trail = append(slices.Clip(h.Trail), Rank{StageShape, i + 1, h.Score})
	}
	s.rankHits(span, s.hits, before)
	span.Detail["diversity"], span.Detail["max_per_document"], span.Detail["collapse"] = s.shaping.diversity, s.shaping.perDocument, s.shaping.collapse
	span.Detail["left_out"] = s.leftOut()
}

// leftOut tells which candidates fell and why, at most as many as a trace lists.
func (s *search) leftOut() []map[string]string {
	list := []map[string]string{}
	for _, h := range s.pool {
		if why := s.fell[h.Chunk.ID]; why != "" && len(list) < maxCandidates {
			list = append(list, map[string]string{"chunk_id": h.Chunk.ID, "reason": why})
		}
	}
	return list
}

// fill is how many hits the search should give if the collection has them: fewer than top_k where its documents may not
// give as many.
func (s *search) fill() int {
	if n := s.shaping.perDocument; n > 0 && n < s.q.TopK {
		return min(s.q.TopK, n*s.stored.Documents)
	}
	return s.q.TopK
}

// deepShaping is the number of live candidates at which a search gives up looking for such as do not fall in shaping.
// There may be none: where a filter leaves one long document and max_per_document is 1, all of it would be read for
// one hit. Looking through so many takes as long as some dozens of plain searches.
const deepShaping = 4096

// isDeep reports whether so many candidates are enough, though too few stayed in shaping.
func (s *search) isDeep(candidates []Hit) bool {
	return (s.shaping.perDocument > 0 || s.shaping.collapse > 0) && len(candidates) >= max(deepShaping, 2*s.q.TopK)
}

// noteShort says that there may be further hits below those that were looked through.
func (s *search) noteShort() {
	s.result.Notes = append(s.result.Notes, Note{StageShape, fmt.Sprintf(
		"%d passages were looked through, and max_per_document and collapse left %s of the %d wanted: there may be more further down; set a filter, or max_per_document higher",
		len(s.pool), count(len(s.hits), "hit", "hits"), s.q.TopK)})
}

// distinct keeps the hits that are no near-duplicate of a better one kept, at most perDocument of each document, in
// order. What falls as a duplicate is listed at the hit it resembles; fell says why a hit did.
func (s *search) distinct(hits []Hit) []Hit {
	s.fell = map[string]string{}
	kept := make([]Hit, 0, len(hits))
	ofDocument := map[string]int{}
	for _, h := range hits {
		if s.shaping.collapse > 0 {
			if twin, alike := s.twin(&h.Chunk, kept); twin != nil {
				twin.Duplicates = append(twin.Duplicates, Duplicate{h.Chunk.ID, h.Chunk.URI, alike})
				s.fell[h.Chunk.ID] = fmt.Sprintf("near-duplicate of %s (similarity %.2f)", twin.Chunk.ID, alike)
				continue
			}
		}
		if n := s.shaping.perDocument; n > 0 && ofDocument[h.Chunk.DocID] == n {
			s.fell[h.Chunk.ID] = fmt.Sprintf("same document as %s better", count(n, "hit that is", "hits that are"))
			continue
		}
		ofDocument[h.Chunk.DocID]++
		kept = append(kept, h)
	}
	return kept
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
