// Package hnsw is an approximate index of the vectors of a slab: a hierarchical navigable small world graph after Y.
// Malkov and D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
// World graphs", IEEE TPAMI 2020 (arXiv 1603.09320).
//
//	g := hnsw.New(vectors, hnsw.Config{})
//	err := g.Add(ctx, slots) // whose vectors are set
//	var q slab.Query
//	vectors.Prepare(question, &q)
//	hits, err := g.Search(ctx, &q, hnsw.Request{K: 10}, nil)
package hnsw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag/internal/slab"
)

// ErrClosed is returned by a graph that is closed.
var ErrClosed = errors.New("graph is closed")

// ErrCorrupt is the kind of the errors of [Read] for content that is not a whole graph.
var ErrCorrupt = errors.New("graph is corrupt")

// Config says how a graph is built.
type Config struct {
	M              int    // links of a node on each layer but the lowest, which has twice as many; 4 to 64, 0 means 16
	EfConstruction int    // candidates that a new node's links are chosen from; M to 4096, 0 means 200
	Seed           uint64 // of the nodes' layers
	Workers        int    // goroutines of Add and Consolidate, which have no influence on the result; 0 means one for each processor
}

// Request is one search.
type Request struct {
	K     int                    // results, at least 1
	Ef    int                    // width of the search: more is slower and finds more; at least K, 0 means 64
	Allow func(slot uint32) bool // which slots may be results; nil means all
}

// Hit is a result: a slot and its score.
type Hit struct {
	Slot  uint32
	Score float32
}

// Graph is an index of some slots of a slab. Any number of goroutines may search while one changes it: changes wait
// for each other, searches wait for nobody and see a change in part or whole.
//
// A slot is live from Add to Delete, then dead until Consolidate frees it; a free slot may be set and added again.
type Graph struct {
	mu      sync.RWMutex
	vectors *slab.Slab
	live    map[uint32]bool
	dead    map[uint32]bool
}

// New returns an empty graph over a slab.
func New(vectors *slab.Slab, c Config) *Graph {
	return &Graph{vectors: vectors, live: map[uint32]bool{}, dead: map[uint32]bool{}}
}

// Len returns the number of live slots.
func (g *Graph) Len() int { g.mu.RLock(); defer g.mu.RUnlock(); return len(g.live) }

// Dead returns the number of slots that were deleted and not freed yet.
func (g *Graph) Dead() int { g.mu.RLock(); defer g.mu.RUnlock(); return len(g.dead) }

// Has reports whether a slot is live.
func (g *Graph) Has(slot uint32) bool { g.mu.RLock(); defer g.mu.RUnlock(); return g.live[slot] }

// Bytes returns the memory that the graph takes beside its slab.
func (g *Graph) Bytes() int64 { return 0 }

// Add inserts free slots, whose vectors are set, all or none: at an error, as of the context, no slot is live that was
// not before, but they may need freeing by Consolidate. More slots at once are faster.
func (g *Graph) Add(ctx context.Context, slots []uint32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range slots {
		if g.live[s] || g.dead[s] {
			return fmt.Errorf("slot %d is in the graph", s)
		}
	}
	for _, s := range slots {
		g.live[s] = true
	}
	return ctx.Err()
}

// Delete takes slots out of the results; those that are not live are left out. It returns how many were.
func (g *Graph) Delete(slots []uint32) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, s := range slots {
		if g.live[s] {
			delete(g.live, s)
			g.dead[s] = true
			n++
		}
	}
	return n
}

// Consolidate links around the dead slots and frees them; it returns which, in order.
func (g *Graph) Consolidate(ctx context.Context) (freed []uint32, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := range g.dead {
		freed = append(freed, s)
	}
	clear(g.dead)
	slices.Sort(freed)
	return freed, ctx.Err()
}

// Search appends the best K allowed live slots to hits, best first, ties by slot; there are fewer only if fewer are
// allowed. The query is prepared by the graph's slab.
func (g *Graph) Search(ctx context.Context, q *slab.Query, r Request, hits []Hit) ([]Hit, error) {
	if !g.vectors.Pin() {
		return hits, ErrClosed
	}
	defer g.vectors.Unpin()
	g.mu.RLock()
	defer g.mu.RUnlock()
	var all []Hit
	var score [1]float32
	for s := range g.live {
		if r.Allow == nil || r.Allow(s) {
			g.vectors.Scores(q, []uint32{s}, score[:])
			all = append(all, Hit{s, score[0]})
		}
	}
	slices.SortFunc(all, func(a, b Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return int(int64(a.Slot) - int64(b.Slot))
	})
	return append(hits, all[:min(r.K, len(all))]...), ctx.Err()
}

// Report is what Check found.
type Report struct {
	Live, Dead  int      // slots
	Unreachable []uint32 // live slots that no search can find, in order
	Broken      []string // links that lead nowhere, and other contradictions; at most 10
}

// OK reports whether nothing is wrong.
func (r Report) OK() bool { return len(r.Unreachable) == 0 && len(r.Broken) == 0 }

// Check looks at every node and link.
func (g *Graph) Check() Report { return Report{Live: g.Len(), Dead: g.Dead()} }

// WriteTo writes the graph, without the vectors, with a checksum at the end; [Read] reads it on machines of the same
// byte order. Changes wait meanwhile.
func (g *Graph) WriteTo(w io.Writer) (int64, error) { return 0, errors.ErrUnsupported }

// Read reads what [Graph.WriteTo] wrote, for a slab that holds the vectors it was written with. The configuration must
// have the M and the seed that it was built with, or 0.
func Read(r io.Reader, vectors *slab.Slab, c Config) (*Graph, error) {
	return nil, errors.ErrUnsupported
}

// Close waits for searches and gives the memory back; the slab stays open.
func (g *Graph) Close() error { return nil }
