package hnsw_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// model is what a graph should hold: the state of each slot.
type model struct {
	live, dead map[uint32]bool
}

func (m *model) sorted(of map[uint32]bool) []uint32 {
	var slots []uint32
	for slot := range of {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	return slots
}

// pick returns some of the slots.
func pick(rng *rand.Rand, slots []uint32, n int) []uint32 {
	rng.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	return slots[:min(n, len(slots))]
}

// Random changes leave a graph that holds what it should and finds it.
func TestRandomChanges(t *testing.T) {
	const slots, dims, steps = 400, 16, 40 / racetest.Slower
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		pool := clustered(rng, 300, dims) // so that some are equal
		s := fill(t, slab.Kind(seed%2), pool[:1])
		g := graph(t, s, hnsw.Config{M: 6, EfConstruction: 40})
		m := model{map[uint32]bool{}, map[uint32]bool{}}
		free := upTo(0, slots)
		for step := range steps {
			switch live := m.sorted(m.live); rng.IntN(4) {
			case 0, 1:
				some := slices.Clone(pick(rng, free, 1+rng.IntN(80)))
				for _, slot := range some {
					if err := s.Set(slot, pool[rng.IntN(len(pool))]); err != nil {
						t.Fatal(err)
					}
					m.live[slot] = true
				}
				add(t, g, some)
				free = slices.DeleteFunc(free, func(slot uint32) bool { return m.live[slot] })
			case 2:
				some := pick(rng, live, 1+rng.IntN(1+len(live)))
				if n := g.Delete(some); n != len(some) {
					t.Fatalf("seed %d, step %d: %d deleted of %d", seed, step, n, len(some))
				}
				for _, slot := range some {
					delete(m.live, slot)
					m.dead[slot] = true
				}
			case 3:
				freed, err := g.Consolidate(t.Context())
				if err != nil || !slices.Equal(freed, m.sorted(m.dead)) {
					t.Fatalf("seed %d, step %d: freed %d, %v, want %d", seed, step, freed, err, m.sorted(m.dead))
				}
				free = append(free, freed...)
				clear(m.dead)
			}
			if err := g.Repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			healthy(t, g)
			live := m.sorted(m.live)
			if g.Len() != len(live) || g.Dead() != len(m.dead) {
				t.Fatalf("seed %d, step %d: %d live and %d dead, want %d and %d", seed, step, g.Len(), g.Dead(), len(live), len(m.dead))
			}
			query := pool[rng.IntN(len(pool))]
			got := search(t, s, g, query, hnsw.Request{K: slots, Ef: slots})
			if want := exact(s, query, live, slots); !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: %d results, want %d, or in another order", seed, step, len(got), len(want))
			}
		}
	}
}

// Deleting and adding a third again costs no recall.
func TestRecallAfterChurn(t *testing.T) {
	const n, dims = 1800 / racetest.Slower, 32
	rng := rand.New(rand.NewPCG(21, 22))
	all := clustered(rng, n+100, dims)
	s := fill(t, slab.Int8, all[:n])
	g := graph(t, s, hnsw.Config{})
	add(t, g, upTo(0, n))
	for round := range uint32(3) {
		g.Delete(slices.DeleteFunc(upTo(0, n), func(slot uint32) bool { return slot%3 != round }))
		live := slices.DeleteFunc(upTo(0, n), func(slot uint32) bool { return slot%3 == round })
		for _, when := range []string{"before", "after"} {
			if got := recall(t, s, g, all[n:], live, hnsw.Request{K: 10}); got < 0.98 {
				t.Errorf("round %d, %s consolidation: recall %g", round, when, got)
			}
			if when == "before" {
				freed, err := g.Consolidate(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				healthy(t, g)
				if len(freed) != n/3 {
					t.Fatalf("%d freed", len(freed))
				}
			}
		}
		add(t, g, slices.DeleteFunc(upTo(0, n), func(slot uint32) bool { return slot%3 != round }))
		healthy(t, g)
		if got := recall(t, s, g, all[n:], upTo(0, n), hnsw.Request{K: 10}); got < 0.98 {
			t.Errorf("round %d: recall %g", round, got)
		}
	}
}

// When most of a graph dies, what is left is still found.
func TestFewSurvive(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(23, 24))
	all := clustered(rng, n, 16)
	for _, survivors := range [][]uint32{{999}, {0, 500, 777}, upTo(0, 40), upTo(300, 900)} {
		s := fill(t, slab.Float32, all)
		g := graph(t, s, hnsw.Config{M: 8})
		add(t, g, upTo(0, n))
		g.Delete(slices.DeleteFunc(upTo(0, n), func(slot uint32) bool { return slices.Contains(survivors, slot) }))
		if _, err := g.Consolidate(t.Context()); err != nil {
			t.Fatal(err)
		}
		healthy(t, g)
		if got := search(t, s, g, all[0], hnsw.Request{K: n}); !slices.Equal(got, exact(s, all[0], survivors, n)) {
			t.Errorf("%d survive: %d results", len(survivors), len(got))
		}
	}
}

// Searches go on during changes, without a lock, and see what stays; the race detector watches.
func TestSearchDuringChanges(t *testing.T) {
	const stay, come, dims = 400, 400, 16
	rng := rand.New(rand.NewPCG(25, 26))
	all := clustered(rng, stay+come, dims)
	s := fill(t, slab.Float32, all[:stay])
	g := hnsw.New(s, hnsw.Config{M: 8, EfConstruction: 60, Workers: 2})
	add(t, g, upTo(0, stay))
	var wg sync.WaitGroup
	var searches atomic.Int64
	for worker := range 2 {
		wg.Go(func() {
			var q slab.Query
			for i := worker; ; i++ {
				slot := uint32(i % stay)
				s.Prepare(all[slot], &q)
				hits, err := g.Search(context.Background(), &q, hnsw.Request{K: 5}, nil)
				if errors.Is(err, hnsw.ErrClosed) {
					return
				}
				if err != nil || !slices.ContainsFunc(hits, func(h hnsw.Hit) bool { return h.Slot == slot }) {
					t.Errorf("slot %d is not found: %v, %v", slot, hits, err)
				}
				searches.Add(1)
			}
		})
	}
	for round := range 3 {
		for i := stay; i < stay+come; i++ {
			if err := s.Set(uint32(i), all[stay+(i+round)%come]); err != nil {
				t.Error(err)
			}
		}
		add(t, g, upTo(stay, stay+come))
		g.Delete(upTo(stay, stay+come))
		if _, err := g.Consolidate(t.Context()); err != nil {
			t.Error(err)
		}
		for before := searches.Load(); searches.Load() < before+10 && !t.Failed(); {
			_ = g.Len()
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// What a context ends leaves the graph as it was.
func TestCancelledChanges(t *testing.T) {
	const n = 800
	rng := rand.New(rand.NewPCG(27, 28))
	all := clustered(rng, n, 16)
	s := fill(t, slab.Float32, all)
	g := graph(t, s, hnsw.Config{M: 8, Workers: 1})
	add(t, g, upTo(0, n/2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Add(ended, upTo(n/2, n)); !errors.Is(err, context.Canceled) {
		t.Errorf("Add: %v", err)
	}
	if g.Len() != n/2 {
		t.Errorf("%d live, want %d", g.Len(), n/2)
	}
	g.Delete(upTo(0, 100))
	if freed, err := g.Consolidate(ended); !errors.Is(err, context.Canceled) || freed != nil {
		t.Errorf("Consolidate: %v, %v", freed, err)
	}
	var q slab.Query
	s.Prepare(all[0], &q)
	if _, err := g.Search(ended, &q, hnsw.Request{K: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v", err)
	}
	if err := g.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	healthy(t, g)
	freed, err := g.Consolidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(t, g, freed)
	healthy(t, g)
	if got, want := search(t, s, g, all[0], hnsw.Request{K: n}), exact(s, all[0], upTo(0, n/2), n); !slices.Equal(got, want) {
		t.Errorf("%d results, want %d", len(got), len(want))
	}
}

// stopAfter is a context that ends after some looks at it.
type stopAfter struct {
	context.Context //nolint:containedctx // it is one
	looks           atomic.Int64
}

func (s *stopAfter) Err() error {
	if s.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a change is cut short, nothing is lost.
func TestChangesCutShort(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(29, 30))
	all := clustered(rng, n, 8)
	all[10], all[11] = all[200], all[200]
	for looks := int64(0); looks < 40; looks += 3 * racetest.Slower {
		s := fill(t, slab.Float32, all)
		g := graph(t, s, hnsw.Config{M: 4, EfConstruction: 20, Workers: 2})
		add(t, g, upTo(0, 200))
		ctx := &stopAfter{Context: t.Context()}
		ctx.looks.Store(looks * looks)
		addErr := g.Add(ctx, upTo(200, n))
		g.Delete(upTo(0, 60))
		ctx.looks.Store(looks * looks)
		_, err := g.Consolidate(ctx)
		if looks == 0 && (addErr == nil || err == nil) {
			t.Error("changes went on although their context had ended")
		}
		live := upTo(60, 200)
		if addErr == nil {
			live = upTo(60, n)
		}
		if err := g.Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		healthy(t, g)
		if got, want := search(t, s, g, all[0], hnsw.Request{K: n}), exact(s, all[0], live, n); !slices.Equal(got, want) {
			t.Fatalf("after %d looks: %d results, want %d", looks*looks, len(got), len(want))
		}
	}
}
