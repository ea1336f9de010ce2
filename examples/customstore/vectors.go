package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
)

// Vectors ranks vectors by comparing the question with each of them.
type Vectors struct{ *journal }

var (
	_ rag.VectorStore = Vectors{}
	_ rag.IDLister    = Vectors{}
	_ rag.Dropper     = Vectors{}
)

// OpenVectors opens the vectors in a folder.
func OpenVectors(dir string) (Vectors, error) {
	j, err := openJournal(filepath.Join(dir, "vectors.jsonl"))
	return Vectors{j}, err
}

// Upsert stores records. One that cannot be ranked keeps the whole call from being written.
func (v Vectors) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	if len(recs) == 0 {
		return ctx.Err()
	}
	put := make(map[string]record, len(recs))
	for _, r := range recs {
		if length := dot(r.Vector, r.Vector); length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
			return fmt.Errorf("the vector of %s is zero or not finite: %w", r.ID, rag.ErrInvalid)
		}
		put[r.ID] = record{Vector: r.Vector, Meta: r.Meta, Validity: r.Validity}
	}
	dims := len(recs[0].Vector)
	return v.commit(ctx, change{Collection: collection, Put: put}, func(set map[string]record) error {
		for _, have := range set { // one of them tells for all
			dims = len(have.Vector)
			break
		}
		for _, r := range recs {
			if len(r.Vector) != dims {
				return fmt.Errorf("the vector of %s has %d numbers, those of the collection %d: %w", r.ID, len(r.Vector), dims, rag.ErrDimension)
			}
		}
		return nil
	})
}

// Search applies the filter to each record, so the result is exact whatever it selects.
func (v Vectors) Search(ctx context.Context, collection string, q rag.VectorQuery) ([]rag.Match, error) {
	if err := cmp.Or(ctx.Err(), q.Filter.Validate()); err != nil {
		return nil, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	var matches []rag.Match
	for id, r := range v.sets[collection] {
		if len(r.Vector) != len(q.Vector) {
			return nil, fmt.Errorf("the question has %d numbers, the collection's vectors %d: %w", len(q.Vector), len(r.Vector), rag.ErrDimension)
		}
		if q.Filter.Match(r.Meta, r.Validity) {
			matches = append(matches, rag.Match{ID: id, Score: dot(r.Vector, q.Vector)})
		}
	}
	return best(matches, q.K), nil
}

// dot is the cosine of two vectors of unit length, which is what the engine gives a store.
func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
