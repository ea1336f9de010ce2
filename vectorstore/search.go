package vectorstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/simd"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// candidate is a slot and its score.
type candidate struct {
	slot  uint32
	score float32
	id    string // "": not read yet
}

// spare is how many candidates are looked at to find the best k: vectors in eight bits rank nearly, not quite, as the exact
// ones do, and the last of what a walk finds are the least sure. See docs/adr/0013-vector-stores.md.
func spare(k int) int { return k + max(k/2, 10) }

// scanIsCheaper reports whether comparing the n records that a filter matches one by one is to be preferred to walking the
// graph of all. A walk takes f times as long where a filter matches one in f, and without one is taken to be worth comparing
// exactBelow vectors: it is quicker than that by some factor, but a scan finds everything.
func (t *tuning) scanIsCheaper(n, total int) bool { return n*n < t.exactBelow*total }

// search finds the best matches in the collection. The caller keeps writers out.
func (s *store) search(ctx context.Context, in records, q rag.VectorQuery) ([]rag.Match, error) {
	c := in.c
	allowed, n := c.slots.live, c.slots.n
	if !q.Filter.IsZero() {
		allowed = c.fields.resolve(q.Filter, c.slots.live)
		n = allowed.Count()
	}
	k := min(q.K, n)
	if k <= 0 {
		return nil, ctx.Err()
	}
	wanted := k
	if c.vectors.Kind() == slab.Int8 {
		wanted = min(spare(k), n)
	}
	var query slab.Query
	c.vectors.Prepare(q.Vector, &query)
	var found []candidate
	var err error
	if c.graph != nil && !s.tuning.scanIsCheaper(n, c.slots.n) {
		found, err = s.walk(ctx, c, &query, wanted, allowed, n)
	}
	if err == nil && len(found) < wanted { // also where the graph has lost some
		found, err = scan(ctx, c.vectors, &query, wanted, allowed, s.workers)
	}
	if err != nil {
		return nil, err
	}
	if c.vectors.Kind() == slab.Int8 {
		if err := rescore(in, q.Vector, found); err != nil {
			return nil, err
		}
	}
	return best(in, found, k)
}

// walk asks the graph for the best k of the n allowed slots, and for others that are as good as the last of them: the
// caller breaks ties.
func (s *store) walk(ctx context.Context, c *collection, q *slab.Query, k int, allowed bitset.Set, n int) ([]candidate, error) {
	width := max(s.tuning.ef, spare(k))
	r := hnsw.Request{K: width, Ef: width}
	if c.graph.Len() != n { // a filter leaves some out, or a writer has linked what is not to be seen yet
		r.Allow = allowed.Has
	}
	hits, err := c.graph.Search(ctx, q, r, make([]hnsw.Hit, 0, width))
	if err != nil {
		return nil, err
	}
	found := make([]candidate, 0, k)
	for _, h := range hits {
		if len(found) >= k && h.Score < found[k-1].score {
			break
		}
		if allowed.Has(h.Slot) { // one that was linked since
			found = append(found, candidate{slot: h.Slot, score: h.Score})
		}
	}
	return found, nil
}

// rescore replaces scores by exact ones, and notes the IDs that are read by the way.
func rescore(in records, query []float32, found []candidate) error {
	dot := simd.Fastest().Dot
	vector := make([]float32, len(query))
	for i := range found {
		c := &found[i]
		row, raw, err := in.row(c.slot)
		if err != nil {
			return err
		}
		record.ReadFloat32s(vector, raw)
		c.id, c.score = row.id, dot(query, vector)
	}
	return nil
}

// best returns the first k by score, ties by ID. Only the IDs that matter are read.
func best(in records, found []candidate, k int) ([]rag.Match, error) {
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	end := k
	for end < len(found) && found[end].score == found[k-1].score {
		end++
	}
	found = found[:end]
	for i := range found {
		if found[i].id != "" {
			continue
		}
		var err error
		if found[i].id, err = in.id(found[i].slot); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	matches := make([]rag.Match, k)
	for i := range matches {
		// An ID is a part of its record's text, which the match must not keep alive.
		matches[i] = rag.Match{ID: strings.Clone(found[i].id), Score: float64(found[i].score)}
	}
	return matches, nil
}
