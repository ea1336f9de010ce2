package hnsw_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// clustered returns n unit vectors around a few centres, as embeddings are.
func clustered(rng *rand.Rand, n, dims int) [][]float32 {
	var centres [][]float64
	for range max(1, n/50) {
		c := make([]float64, dims)
		for i := range c {
			c[i] = rng.NormFloat64()
		}
		centres = append(centres, c)
	}
	all := make([][]float32, n)
	for i := range all {
		c := centres[rng.IntN(len(centres))]
		all[i] = make([]float32, dims)
		var sum float64
		x := make([]float64, dims)
		for j := range x {
			x[j] = c[j] + 0.7*rng.NormFloat64()
			sum += x[j] * x[j]
		}
		for j := range x {
			all[i][j] = float32(x[j] / math.Sqrt(sum))
		}
	}
	return all
}

// fill sets slots 0, 1, … of a new slab.
func fill(t testing.TB, kind slab.Kind, vectors [][]float32) *slab.Slab {
	t.Helper()
	s, err := slab.New(kind, len(vectors[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for i, v := range vectors {
		if err := s.Set(uint32(i), v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// graph returns a graph that closes with the test.
func graph(t testing.TB, s *slab.Slab, c hnsw.Config) *hnsw.Graph {
	t.Helper()
	g := hnsw.New(s, c)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// upTo returns slots from, from+1, … to-1.
func upTo(from, to int) []uint32 {
	var slots []uint32
	for slot := from; slot < to; slot++ {
		slots = append(slots, uint32(slot))
	}
	return slots
}

func add(t testing.TB, g *hnsw.Graph, slots []uint32) {
	t.Helper()
	if err := g.Add(t.Context(), slots); err != nil {
		t.Fatal(err)
	}
}

// exact returns the best k of some slots by comparing with each.
func exact(s *slab.Slab, query []float32, slots []uint32, k int) []hnsw.Hit {
	var q slab.Query
	s.Prepare(query, &q)
	scores := make([]float32, len(slots))
	s.Scores(&q, slots, scores)
	hits := make([]hnsw.Hit, len(slots))
	for i, slot := range slots {
		hits[i] = hnsw.Hit{Slot: slot, Score: scores[i]}
	}
	slices.SortFunc(hits, func(a, b hnsw.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot))
	})
	return hits[:min(k, len(hits))]
}

func search(t testing.TB, s *slab.Slab, g *hnsw.Graph, query []float32, r hnsw.Request) []hnsw.Hit {
	t.Helper()
	var q slab.Query
	s.Prepare(query, &q)
	hits, err := g.Search(t.Context(), &q, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// recall returns the share of exact results that searches find.
func recall(t testing.TB, s *slab.Slab, g *hnsw.Graph, queries [][]float32, slots []uint32, r hnsw.Request) float64 {
	t.Helper()
	found, all := 0, 0
	for _, query := range queries {
		want := exact(s, query, slots, r.K)
		got := search(t, s, g, query, r)
		if len(got) != len(want) {
			t.Errorf("%d results, want %d", len(got), len(want))
		}
		for _, hit := range want {
			if slices.Contains(got, hit) {
				found++
			}
		}
		all += len(want)
	}
	return float64(found) / float64(all)
}

// healthy fails the test if a node or a link is wrong.
func healthy(t testing.TB, g *hnsw.Graph) {
	t.Helper()
	if r := g.Check(); !r.OK() {
		t.Fatalf("graph: %d unreachable (%v), broken: %q", len(r.Unreachable), r.Unreachable[:min(5, len(r.Unreachable))], r.Broken)
	}
}
