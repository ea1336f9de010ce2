package hnsw_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/slab"
)

var kinds = []slab.Kind{slab.Float32, slab.Int8}

func TestRecall(t *testing.T) {
	const n, dims = 2000 / racetest.Slower, 48
	rng := rand.New(rand.NewPCG(1, 2))
	all := clustered(rng, n+100, dims)
	for _, kind := range kinds {
		s := fill(t, kind, all[:n])
		g := graph(t, s, hnsw.Config{})
		slots := upTo(0, n)
		add(t, g, slots)
		healthy(t, g)
		if got := recall(t, s, g, all[n:], slots, hnsw.Request{K: 10}); got < 0.98 {
			t.Errorf("%v: recall %g", kind, got)
		}
		for i, v := range all[:n] {
			if hits := search(t, s, g, v, hnsw.Request{K: 1}); hits[0].Slot != uint32(i) {
				t.Errorf("%v: vector %d finds %v", kind, i, hits)
			}
		}
		if g.Len() != n || g.Dead() != 0 || !g.Has(n-1) || g.Has(n) {
			t.Errorf("%v: %d live, %d dead", kind, g.Len(), g.Dead())
		}
	}
}

func TestSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := clustered(rng, 5, 8)
	for n := range 6 {
		s := fill(t, slab.Float32, all)
		g := graph(t, s, hnsw.Config{})
		add(t, g, upTo(0, n))
		healthy(t, g)
		if got := search(t, s, g, all[0], hnsw.Request{K: 10}); len(got) != n {
			t.Errorf("%d slots, %d results", n, len(got))
		}
		g.Delete(upTo(0, n))
		if got := search(t, s, g, all[0], hnsw.Request{K: 10}); len(got) != 0 {
			t.Errorf("%d deleted slots, %d results", n, len(got))
		}
		freed, err := g.Consolidate(t.Context())
		if diff := cmp.Diff(upTo(0, n), freed); err != nil || diff != "" {
			t.Errorf("%d slots freed (-want +got): %v\n%s", n, err, diff)
		}
		add(t, g, upTo(0, n))
		if got := search(t, s, g, all[0], hnsw.Request{K: 10}); len(got) != n {
			t.Errorf("%d slots added again, %d results", n, len(got))
		}
	}
}

// Equal vectors must not form an island, and all of them can be found.
func TestEqualVectors(t *testing.T) {
	const equal, others = 1000, 100
	rng := rand.New(rand.NewPCG(5, 6))
	some := clustered(rng, others+1, 32)
	var all [][]float32
	for range equal {
		all = append(all, some[others])
	}
	all = append(all, some[:others]...)
	for _, kind := range kinds {
		s := fill(t, kind, all)
		g := graph(t, s, hnsw.Config{})
		add(t, g, upTo(0, equal/2))
		add(t, g, upTo(equal/2, equal+others))
		healthy(t, g)
		for i := equal; i < equal+others; i++ {
			if hits := search(t, s, g, all[i], hnsw.Request{K: 1}); hits[0].Slot != uint32(i) {
				t.Errorf("%v: vector %d finds %v", kind, i, hits)
			}
		}
		check := func(live []uint32) {
			t.Helper()
			want := exact(s, all[0], live, len(live))
			if diff := cmp.Diff(want, search(t, s, g, all[0], hnsw.Request{K: equal + others})); diff != "" {
				t.Errorf("%v: of %d (-want +got):\n%s", kind, len(live), diff)
			}
			healthy(t, g)
		}
		check(upTo(0, equal+others))

		// Their leader dies, and nine of ten of the others.
		live := slices.DeleteFunc(upTo(0, equal+others), func(slot uint32) bool { return slot < equal && slot%10 != 5 })
		g.Delete(slices.DeleteFunc(upTo(0, equal), func(slot uint32) bool { return slot%10 == 5 }))
		check(live)
		freed, err := g.Consolidate(t.Context())
		if err != nil || len(freed) != 900 {
			t.Fatalf("%d freed: %v", len(freed), err)
		}
		check(live)
		add(t, g, freed)
		check(upTo(0, equal+others))
	}
}

func TestFilter(t *testing.T) {
	const n = 2000 / racetest.Slower
	rng := rand.New(rand.NewPCG(7, 8))
	all := clustered(rng, n+20, 32)
	s := fill(t, slab.Float32, all[:n])
	g := graph(t, s, hnsw.Config{})
	add(t, g, upTo(0, n))
	for _, one := range []uint32{1, 2, 10, 100, 1000} {
		allow := func(slot uint32) bool { return slot%one == 0 }
		slots := slices.DeleteFunc(upTo(0, n), func(slot uint32) bool { return !allow(slot) })
		if got := recall(t, s, g, all[n:], slots, hnsw.Request{K: 10, Allow: allow}); got < 0.97 {
			t.Errorf("one of %d allowed: recall %g", one, got)
		}
	}
	for _, r := range []hnsw.Request{{K: 10, Allow: func(uint32) bool { return false }}, {K: 0}, {K: -1}} {
		if got := search(t, s, g, all[0], r); len(got) != 0 {
			t.Errorf("%d asked for, nothing allowed or wanted: %v", r.K, got)
		}
	}
}

func TestSameForAnyNumberOfWorkers(t *testing.T) {
	const n = 1500
	rng := rand.New(rand.NewPCG(9, 10))
	all := clustered(rng, n, 24)
	all[700], all[701] = all[3], all[3]
	var first []byte
	for _, workers := range []int{1, 2, 7} {
		s := fill(t, slab.Int8, all)
		g := graph(t, s, hnsw.Config{Workers: workers})
		add(t, g, upTo(0, 1200))
		g.Delete(upTo(100, 500))
		if _, err := g.Consolidate(t.Context()); err != nil {
			t.Fatal(err)
		}
		add(t, g, upTo(1200, n))
		add(t, g, upTo(200, 300))
		file := save(t, g)
		if first == nil {
			first = file
		}
		if !slices.Equal(first, file) {
			t.Errorf("%d workers make another graph than one", workers)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	all := clustered(rng, 1000, 32)
	s := fill(t, slab.Int8, all)
	g := graph(t, s, hnsw.Config{})
	add(t, g, upTo(0, 1000))
	var q slab.Query
	s.Prepare(all[0], &q)
	hits := make([]hnsw.Hit, 0, 10)
	r := hnsw.Request{K: 10, Allow: func(slot uint32) bool { return slot%2 == 0 }}
	ctx := t.Context()
	// Under the race detector a pool drops some of what it gets.
	if n := testing.AllocsPerRun(100, func() { _, _ = g.Search(ctx, &q, r, hits) }); n >= 1 && !racetest.Detector {
		t.Errorf("a search allocates %g times", n)
	}
}

func TestRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	all := clustered(rng, 10, 8)
	s := fill(t, slab.Float32, all)
	g := graph(t, s, hnsw.Config{})
	add(t, g, []uint32{1, 2})
	for _, slots := range [][]uint32{{3, 1}, {4, 5, 4}, {10}} {
		if err := g.Add(t.Context(), slots); err == nil {
			t.Errorf("slots %d were added", slots)
		}
	}
	if g.Len() != 2 || g.Has(3) {
		t.Errorf("%d live", g.Len())
	}
	if n := g.Delete([]uint32{1, 1, 7, 1000}); n != 1 {
		t.Errorf("%d deleted, want 1", n)
	}
	if err := g.Add(t.Context(), []uint32{1}); err == nil {
		t.Error("a dead slot was added")
	}
	healthy(t, g)
}
