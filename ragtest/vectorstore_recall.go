package ragtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// exact is the reference: the k nearest of the records that the filter matches, ties by ID.
func exact(recs []rag.VectorRecord, q rag.VectorQuery) []rag.Match {
	var all []rag.Match
	for _, r := range recs {
		if q.Filter.Match(r.Meta, r.Validity) {
			all = append(all, rag.Match{ID: r.ID, Score: dotProduct(q.Vector, r.Vector)})
		}
	}
	slices.SortFunc(all, func(a, b rag.Match) int { return cmp.Or(-cmp.Compare(a.Score, b.Score), cmp.Compare(a.ID, b.ID)) })
	return all[:min(q.K, len(all))]
}

// recallOf is the share of want that got has; a match as good as the last of want counts as one of them.
func recallOf(recs map[string][]float32, query []float32, want, got []rag.Match) float64 {
	if len(want) == 0 {
		return 1
	}
	worst, found, seen := want[len(want)-1].Score, 0, map[string]bool{}
	for _, m := range got {
		v, ok := recs[m.ID]
		if ok && !seen[m.ID] && dotProduct(query, v) >= worst-scoreTolerance {
			found++
		}
		seen[m.ID] = true
	}
	return float64(min(found, len(want))) / float64(len(want))
}

// meanRecall is the share of the true nearest that the store finds, over some random questions.
func (s *storeSuite) meanRecall(recs []rag.VectorRecord) float64 {
	by := map[string][]float32{}
	for _, r := range recs {
		by[r.ID] = r.Vector
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	const questions = 50
	sum := 0.0
	for range questions {
		q := rag.VectorQuery{Vector: randomVector(rnd), K: 10}
		sum += recallOf(by, q.Vector, exact(recs, q), s.search("c", q))
	}
	return sum / questions
}

func (s *storeSuite) nearest() {
	recs := vecs(3000)
	s.upsert("c", recs...)
	if got := s.meanRecall(recs); got < s.recall {
		s.Errorf("recall@10 is %.3f, want at least %.3f", got, s.recall)
	}
}

// findItself asks for each record by its own vector.
func (s *storeSuite) findItself() {
	recs := vecs(2000)
	s.upsert("c", recs...)
	found := 0
	for _, r := range recs {
		if got := s.search("c", rag.VectorQuery{Vector: r.Vector, K: 1}); len(got) == 1 && got[0].ID == r.ID {
			found++
		}
	}
	if share := float64(found) / float64(len(recs)); share < s.recall {
		s.Errorf("%d of %d records find themselves, want a share of %.3f", found, len(recs), s.recall)
	}
}

// churn deletes a third of the records, measures, and adds them again with other vectors.
func (s *storeSuite) churn() {
	recs := vecs(3000)
	s.upsert("c", recs...)
	var left, gone []rag.VectorRecord
	var ids []string
	rnd := rand.New(rand.NewPCG(7, 8))
	for i, r := range recs {
		if i%3 == 1 {
			ids = append(ids, r.ID)
			gone = append(gone, vec(r.ID, randomVector(rnd)))
		} else {
			left = append(left, r)
		}
	}
	if err := s.it.Delete(s.Context(), "c", ids); err != nil {
		s.Fatal(err)
	}
	if got := s.meanRecall(left); got < s.recall {
		s.Errorf("recall@10 after a third was deleted is %.3f, want at least %.3f", got, s.recall)
	}
	s.upsert("c", gone...)
	if got := s.meanRecall(slices.Concat(left, gone)); got < s.recall {
		s.Errorf("recall@10 after it was added again is %.3f, want at least %.3f", got, s.recall)
	}
}

// selectiveRecords have a place between 0 and 1, evenly spread and in no order, as a number and as four digits, and for
// each part of selectivities a field that so many of them have.
func selectiveRecords(n int) []rag.VectorRecord {
	recs := vecs(n)
	for i := range recs {
		place := i * 7919 % n // 7919 has no factor in common with 10,000
		recs[i].Meta = rag.Meta{"place": float64(place) / float64(n), "digits": fmt.Sprintf("%04d", place*10_000/n)}
		for _, part := range selectivities {
			if float64(place) < part*float64(n) {
				recs[i].Meta[partField(part)] = "yes"
			}
		}
	}
	return recs
}

// selectivities are the parts of a collection that filters select.
var selectivities = []float64{0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 0.0001}

func partField(part float64) string { return fmt.Sprint("part_", part) }

// selecting are filters that select a part, by every operator that can.
func selecting(part float64) map[string]rag.Filter {
	below := rag.Range("place", rag.Bounds{LT: part})
	filters := map[string]rag.Filter{
		"eq":     rag.Eq(partField(part), "yes"),
		"exists": rag.Exists(partField(part)),
		"range":  below,
		"not":    rag.Not(rag.Range("place", rag.Bounds{GTE: part})),
		"and":    rag.And(below, rag.Prefix("digits", "0")),
		"or":     rag.Or(rag.Range("place", rag.Bounds{LT: part / 2}), rag.Range("place", rag.Bounds{GTE: part / 2, LT: part})),
	}
	var digits []any
	for i := range min(int(part*10_000), 100) {
		digits = append(digits, fmt.Sprintf("%04d", i))
	}
	filters["in"] = rag.In("digits", digits...)
	for zeros := 1; zeros <= 4; zeros++ {
		if prefix := strings.Repeat("0", zeros); part == []float64{0.1, 0.01, 0.001, 0.0001}[zeros-1] {
			filters["prefix"] = rag.Prefix("digits", prefix)
		}
	}
	return filters
}

// selective asks with filters of all selectivities.
func (s *storeSuite) selective() {
	recs := selectiveRecords(10_000)
	by := map[string][]float32{}
	for batch := range slices.Chunk(recs, 2500) {
		s.upsert("c", batch...)
		for _, r := range batch {
			by[r.ID] = r.Vector
		}
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, part := range selectivities {
		sum, n := 0.0, 0
		filters := selecting(part)
		for _, op := range slices.Sorted(maps.Keys(filters)) {
			q := rag.VectorQuery{Vector: randomVector(rnd), K: 10, Filter: filters[op]}
			got, err := s.it.Search(s.Context(), "c", q)
			if errors.Is(err, rag.ErrUnsupported) {
				continue // the engine over-fetches for such a store
			}
			if err != nil {
				s.Fatalf("%s of %g: %v", op, part, err)
			}
			want := exact(recs, q)
			if len(got) != len(want) {
				s.Errorf("%s of %g: %d matches, want %d", op, part, len(got), len(want))
			}
			sum, n = sum+recallOf(by, q.Vector, want, got), n+1
		}
		if n > 0 && sum/float64(n) < s.recall {
			s.Errorf("recall@10 under filters that select %g of the records is %.3f, want at least %.3f", part, sum/float64(n), s.recall)
		}
	}
}
