package coderhnsw_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore"
	"github.com/seed-d8745b77/rag/vectorstore/coderhnsw"
)

func open(t testing.TB, dir string, c coderhnsw.Config) *coderhnsw.Store {
	t.Helper()
	s, err := coderhnsw.Open(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStore skips what the module cannot do, by name. Filters are resolved exactly; the share allows for the one that is none.
func TestStore(t *testing.T) {
	const (
		misses = "github.com/coder/hnsw v0.6.1 ends a search at the first step that brings nothing better, and links a node to its closest alone"
		equals = "of many equal vectors the graph shows some"
	)
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return open(t, dir, coderhnsw.Config{}) },
		ragtest.Approximate(0.95),
		ragtest.Except("the nearest are found", misses),
		ragtest.Except("each record finds itself", misses),
		ragtest.Except("the nearest are found after a third was deleted and added again", misses),
		ragtest.Except("equal scores are ordered by ID", equals))
}

// TestWornGraph replaces and deletes until the graph is built anew, and again.
func TestWornGraph(t *testing.T) {
	s := open(t, t.TempDir(), coderhnsw.Config{})
	defer s.Close()
	recs := vectors(1000, 32)
	for round := range 5 {
		if err := s.Upsert(t.Context(), "c", recs); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range recs[:100*round] {
			ids = append(ids, r.ID)
		}
		if err := s.Delete(t.Context(), "c", ids); err != nil {
			t.Fatal(err)
		}
		got, err := s.Search(t.Context(), "c", rag.VectorQuery{Vector: recs[999].Vector, K: 10})
		if err != nil || len(got) != 10 {
			t.Fatalf("round %d: %d matches, %v", round, len(got), err)
		}
		for _, m := range got {
			for _, id := range ids {
				if m.ID == id {
					t.Errorf("round %d: %s was deleted and is found", round, id)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []coderhnsw.Config{{M: 3}, {M: 65}, {EfSearch: -1}} {
		if _, err := coderhnsw.Open("", c); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", c, err)
		}
	}
}

// vectors are n of some hundred topics.
func vectors(n, dims int) []rag.VectorRecord {
	rnd := rand.New(rand.NewPCG(1, 2))
	centres := make([][]float32, 100)
	around := func(centre []float32) []float32 {
		v := make([]float32, dims)
		var sum float64
		for i := range v {
			v[i] = float32(rnd.NormFloat64())
			if centre != nil {
				v[i] = centre[i] + v[i]*0.05
			}
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	for i := range centres {
		centres[i] = around(nil)
	}
	recs := make([]rag.VectorRecord, n)
	for i := range recs {
		recs[i] = rag.VectorRecord{ID: fmt.Sprintf("%024x", i), Vector: around(centres[rnd.IntN(len(centres))])}
	}
	return recs
}

// BenchmarkRecall measures what README.md says: recall@10 over stored vectors as questions, next to this project's hnsw.
func BenchmarkRecall(b *testing.B) {
	recs := vectors(10_000, 384)
	flat, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{})
	if err != nil {
		b.Fatal(err)
	}
	own, err := vectorstore.OpenHNSW(b.TempDir(), vectorstore.HNSWConfig{ExactBelow: 1})
	if err != nil {
		b.Fatal(err)
	}
	stores := []struct {
		name  string
		store rag.VectorStore
	}{
		{"hnsw", own}, {"coderhnsw", open(b, b.TempDir(), coderhnsw.Config{})},
		{"coderhnsw ef 200", open(b, b.TempDir(), coderhnsw.Config{EfSearch: 200})},
		{"coderhnsw m 32 ef 100", open(b, b.TempDir(), coderhnsw.Config{M: 32, EfSearch: 100})},
	}
	if err := flat.Upsert(b.Context(), "c", recs); err != nil {
		b.Fatal(err)
	}
	for _, s := range stores {
		if err := s.store.Upsert(b.Context(), "c", recs); err != nil {
			b.Fatal(err)
		}
		b.Run(s.name, func(b *testing.B) {
			found, wanted := 0, 0
			for i := 0; b.Loop(); i++ {
				q := rag.VectorQuery{Vector: recs[i*97%len(recs)].Vector, K: 10}
				got, err := s.store.Search(b.Context(), "c", q)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				want, err := flat.Search(b.Context(), "c", q)
				if err != nil {
					b.Fatal(err)
				}
				near := map[string]bool{}
				for _, m := range want {
					near[m.ID] = true
				}
				for _, m := range got {
					if near[m.ID] {
						found++
					}
				}
				wanted += len(want)
				b.StartTimer()
			}
			b.ReportMetric(float64(found)/float64(wanted), "recall@10")
		})
	}
}
