package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

const (
	results   = 10
	rescored  = 2 * results // candidates of an int8 search that are compared again as float32
	firstEf   = 16
	secondEf  = 24 // and twice these, and so on
	largestEf = 512
)

// widths are the sizes of result sets that curves are drawn from.
func widths() []int {
	var all []int
	for a, b := firstEf, secondEf; a <= largestEf; a, b = 2*a, 2*b {
		all = append(all, a, b)
	}
	return all
}

// index is one of ours under measurement.
type index struct {
	kind    slab.Kind
	vectors *slab.Slab
	exact   *slab.Slab  // float32, to compare again what an int8 search finds; nil for Float32
	graph   *hnsw.Graph // nil: all vectors are compared
}

// newIndex builds an index with one worker, a graph unless flat; it returns the time that the graph took.
func newIndex(ctx context.Context, s *set, kind slab.Kind, flat bool, c hnsw.Config) (*index, time.Duration, error) {
	x := &index{kind: kind}
	var err error
	if x.vectors, err = fill(s, kind); err != nil {
		return nil, 0, err
	}
	if kind == slab.Int8 {
		if x.exact, err = fill(s, slab.Float32); err != nil {
			return nil, 0, err
		}
	}
	if flat {
		return x, 0, nil
	}
	c.Workers = 1
	x.graph = hnsw.New(x.vectors, c)
	slots := make([]uint32, len(s.base))
	for i := range slots {
		slots[i] = uint32(i)
	}
	start := cpu()
	err = x.graph.Add(ctx, slots)
	return x, cpu() - start, err
}

func fill(s *set, kind slab.Kind) (*slab.Slab, error) {
	vectors, err := slab.New(kind, dims)
	if err != nil {
		return nil, err
	}
	for i, v := range s.base {
		if err := vectors.Set(uint32(i), v); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

func (x *index) close() {
	if x.graph != nil {
		_ = x.graph.Close()
	}
	_ = x.vectors.Close()
	if x.exact != nil {
		_ = x.exact.Close()
	}
}

// bytes returns the memory of the index, without the vectors to compare again, which a store has on disk.
func (x *index) bytes() int64 {
	n := x.vectors.Bytes()
	if x.graph != nil {
		n += x.graph.Bytes()
	}
	return n
}

// searcher is the memory of one goroutine that searches.
type searcher struct {
	query, exact slab.Query
	hits         []hnsw.Hit
	slots        []uint32
	scores       []float32
}

// search returns the slots of the best results; ef is of no account where all vectors are compared.
func (x *index) search(ctx context.Context, s *searcher, query []float32, ef int) ([]hnsw.Hit, error) {
	x.vectors.Prepare(query, &s.query)
	k := results
	if x.exact != nil {
		k = rescored
	}
	var err error
	if x.graph != nil {
		s.hits, err = x.graph.Search(ctx, &s.query, hnsw.Request{K: k, Ef: max(ef, k)}, s.hits[:0])
	} else {
		x.scan(s, k)
	}
	if err != nil || x.exact == nil {
		return s.hits, err
	}
	s.slots = s.slots[:0]
	for _, h := range s.hits {
		s.slots = append(s.slots, h.Slot)
	}
	x.exact.Prepare(query, &s.exact)
	if len(s.scores) < len(s.slots) {
		s.scores = make([]float32, len(s.slots))
	}
	x.exact.Scores(&s.exact, s.slots, s.scores)
	for i := range s.hits {
		s.hits[i].Score = s.scores[i]
	}
	sortHits(s.hits)
	return s.hits[:min(results, len(s.hits))], nil
}

// scan sets s.hits to the best k of all vectors.
func (x *index) scan(s *searcher, k int) {
	n := uint32(x.vectors.Len())
	if len(s.scores) < int(n) {
		s.scores = make([]float32, n)
	}
	x.vectors.ScanRange(&s.query, 0, n, s.scores)
	s.hits = s.hits[:0]
	for i, score := range s.scores[:n] {
		if len(s.hits) == k && score <= s.hits[k-1].Score {
			continue
		}
		if len(s.hits) < k {
			s.hits = append(s.hits, hnsw.Hit{})
		}
		at := len(s.hits) - 1
		for at > 0 && s.hits[at-1].Score < score {
			s.hits[at] = s.hits[at-1]
			at--
		}
		s.hits[at] = hnsw.Hit{Slot: uint32(i), Score: score}
	}
}

func sortHits(hits []hnsw.Hit) {
	slices.SortFunc(hits, func(a, b hnsw.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot))
	})
}

// measure searches all queries and returns the share of the true results that were found, and the time of a search.
func (x *index) measure(ctx context.Context, s *set, truth [][]uint32, ef int) (recall float64, each time.Duration, err error) {
	var w searcher
	found := make([][]hnsw.Hit, len(s.queries))
	start := cpu()
	for i, q := range s.queries {
		hits, err := x.search(ctx, &w, q, ef)
		if err != nil {
			return 0, 0, err
		}
		found[i] = append(make([]hnsw.Hit, 0, results), hits...)
	}
	each = (cpu() - start) / time.Duration(len(s.queries))
	right := 0
	for i, hits := range found {
		for _, h := range hits {
			if slices.Contains(truth[i], h.Slot) {
				right++
			}
		}
	}
	return float64(right) / float64(len(truth)*results), each, nil
}
