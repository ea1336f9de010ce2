package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/simd"
	"github.com/seed-d8745b77/rag/vectorstore"
)

const (
	filterQueries = 200
	filterK       = 10
	byChance      = "asked" // metadata: rank by chance, as a share of the records
	alongAxis     = "far"   // metadata: rank along the first axis, as a share
)

// filterShares are the shares of the records that the filters select.
var filterShares = []float64{0.5, 0.2, 0.05, 0.01, 0.001, 0.0001}

// filters writes what the vector store finds of a set under filters, through its whole path: filter to slots, then scan or
// walk. Filters select by chance, and along an axis: these leave a side of the space, where many questions are not.
func filters(ctx context.Context, w io.Writer, s *set) (err error) {
	dir, err := os.MkdirTemp("", "rag-filters")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := vectorstore.OpenHNSW(dir, vectorstore.HNSWConfig{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	recs := s.records()
	for batch := range slices.Chunk(recs, 5000) {
		if err := store.Upsert(ctx, "bench", batch); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\n| filter selects | recall, by chance | µs | recall, a side of the space | µs |\n| --- | --- | --- | --- | --- |\n")
	for _, share := range filterShares {
		line := fmt.Sprintf("| %g %% |", 100*share)
		for _, field := range []string{byChance, alongAxis} {
			recall, micros, err := underFilter(ctx, store, s, recs, field, share)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %.4f | %.0f |", recall, micros)
		}
		fmt.Fprintln(w, line)
	}
	return nil
}

// filtersOf writes the table of each set.
func filtersOf(ctx context.Context, dir string, names []string) error {
	for _, name := range names {
		s, err := read(dir, name)
		if err != nil {
			return err
		}
		fmt.Printf("\n## %s: %d vectors, %d queries\n", s.name, len(s.base), len(s.queries))
		if err := filters(ctx, os.Stdout, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// records gives the vectors of a set the two fields that filters select by.
func (s *set) records() []rag.VectorRecord {
	n := float64(len(s.base))
	recs := make([]rag.VectorRecord, len(s.base))
	far := make([]int, len(s.base))
	for i, place := range rand.New(rand.NewPCG(7, 7)).Perm(len(s.base)) {
		recs[i] = rag.VectorRecord{ID: strconv.Itoa(i), DocID: "d", Vector: s.base[i], Meta: rag.Meta{byChance: float64(place) / n}}
		far[i] = i
	}
	slices.SortFunc(far, func(a, b int) int { return cmp.Compare(s.base[a][0], s.base[b][0]) })
	for place, i := range far {
		recs[i].Meta[alongAxis] = float64(place) / n
	}
	return recs
}

// underFilter returns mean recall@10 and the processor time of a search.
func underFilter(ctx context.Context, store *vectorstore.HNSW, s *set, recs []rag.VectorRecord, field string, share float64) (recall, micros float64, err error) {
	filter := rag.Range(field, rag.Bounds{LT: share})
	var selected []int
	for i := range recs {
		if recs[i].Meta[field].(float64) < share {
			selected = append(selected, i)
		}
	}
	questions := s.queries[:min(filterQueries, len(s.queries))]
	var found, wanted int
	start := cpu()
	results := make([][]rag.Match, len(questions))
	for i, q := range questions {
		if results[i], err = store.Search(ctx, "bench", rag.VectorQuery{Vector: q, K: filterK, Filter: filter}); err != nil {
			return 0, 0, err
		}
	}
	micros = float64((cpu() - start).Microseconds()) / float64(len(questions))
	for i, q := range questions {
		truth := nearest(recs, selected, q)
		wanted += len(truth)
		for _, m := range results[i] {
			if slices.Contains(truth, m.ID) {
				found++
			}
		}
		if len(results[i]) != len(truth) {
			return 0, 0, fmt.Errorf("%d results of %d that match", len(results[i]), len(truth))
		}
	}
	return float64(found) / float64(wanted), micros, nil
}

// nearest returns the IDs of the ten records nearest to q among those selected, by comparing all.
func nearest(recs []rag.VectorRecord, selected []int, q []float32) []string {
	type scored struct {
		id    string
		score float32
	}
	all := make([]scored, len(selected))
	for i, at := range selected {
		all[i] = scored{recs[at].ID, simd.Fastest().Dot(recs[at].Vector, q)}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	var ids []string
	for _, x := range all[:min(filterK, len(all))] {
		ids = append(ids, x.id)
	}
	return ids
}
