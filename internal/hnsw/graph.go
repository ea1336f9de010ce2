// Package hnsw is an approximate index of the vectors of a slab: a hierarchical navigable small world graph after Y.
// Malkov and D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
// World graphs", IEEE TPAMI 2020 (arXiv 1603.09320).
//
//	g := hnsw.New(vectors, hnsw.Config{})
//	err := g.Add(ctx, slots) // whose vectors are set
//	var q slab.Query
//	vectors.Prepare(question, &q)
//	hits, err := g.Search(ctx, &q, hnsw.Request{K: 10}, nil)
//
// Vectors are of unit length: of others, some might never be found.
package hnsw

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed-d8745b77/rag/internal/slab"
)

// ErrClosed is returned by a graph that is closed, or whose slab is.
var ErrClosed = errors.New("graph is closed")

// ErrCorrupt is the kind of the errors of [Read] for content that is not a whole graph.
var ErrCorrupt = errors.New("graph is corrupt")

// Defaults, and the ranges of what can be set; measured in bench/vectors.md.
const (
	DefaultM              = 16
	DefaultEfConstruction = 200
	DefaultEf             = 64

	minM, maxM         = 4, 64
	maxEf              = 1 << 14
	maxWorkers         = 256
	maxLevel           = 15
	defaultSeed uint64 = 0x9e3779b97f4a7c15 // any but 0
)

// Config says how a graph is built.
type Config struct {
	M              int    // links of a node on each layer but the lowest, which has twice as many; 4 to 64, 0 means 16
	EfConstruction int    // candidates that a new node's links are chosen from; M to 16384, 0 means 200
	Seed           uint64 // of the nodes' layers; 0 means a fixed one
	Workers        int    // goroutines of Add and Consolidate, which have no influence on the result; 0 means one for each processor
}

// withDefaults fills in zeros and moves the rest into its range.
func (c Config) withDefaults() Config {
	if c.M == 0 {
		c.M = DefaultM
	}
	if c.EfConstruction == 0 {
		c.EfConstruction = DefaultEfConstruction
	}
	if c.Seed == 0 {
		c.Seed = defaultSeed
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	c.M = min(max(c.M, minM), maxM)
	c.EfConstruction = min(max(c.EfConstruction, c.M), maxEf)
	c.Workers = min(max(c.Workers, 1), maxWorkers)
	return c
}

// Graph is an index of some slots of a slab. Any number of goroutines may search while one changes it: changes wait
// for each other, searches wait for nobody and see a change in part or whole.
//
// A slot is live from Add to Delete, then dead until Consolidate frees it; a free slot may be set and added again.
type Graph struct {
	vectors *slab.Slab
	config  Config
	workers sync.Pool             // of *worker
	nodes   atomic.Pointer[nodes] // nil: closed
	live    atomic.Int64          // slots
	dead    atomic.Int64

	changes  sync.Mutex // held by what changes the graph
	unproved []uint32   // slots added since a search was known to find them
	added    int        // nodes added since all were known to be found
}

// New returns an empty graph over a slab. The configuration is moved into its ranges.
func New(vectors *slab.Slab, c Config) *Graph {
	g := &Graph{vectors: vectors, config: c.withDefaults()}
	g.workers.New = func() any { return &worker{} }
	g.nodes.Store(newNodes(g.config.M))
	return g
}

// Config returns the configuration, with the defaults filled in.
func (g *Graph) Config() Config { return g.config }

// Len returns the number of live slots.
func (g *Graph) Len() int { return int(g.live.Load()) }

// Dead returns the number of slots that were deleted and not freed yet.
func (g *Graph) Dead() int { return int(g.dead.Load()) }

// Has reports whether a slot is live. It waits for changes.
func (g *Graph) Has(slot uint32) bool {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	return n != nil && int64(slot) < n.size.Load() && n.of(slot).alive()
}

// Bytes returns the memory that the graph takes beside its slab.
func (g *Graph) Bytes() int64 {
	n := g.nodes.Load()
	if n == nil {
		return 0
	}
	return n.bytes()
}

// Delete takes slots out of the results; those that are not live are left out. It returns how many were. Deleted slots
// still lead searches on their way; from a fifth of all on, Consolidate is worth its time.
func (g *Graph) Delete(slots []uint32) int {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return 0
	}
	return g.remove(n, slots)
}

func (g *Graph) remove(n *nodes, slots []uint32) (removed int) {
	for _, slot := range slots {
		if int64(slot) >= n.size.Load() {
			continue
		}
		if node := n.of(slot); node.alive() {
			node.state.Store(node.state.Load() | dead)
			removed++
		}
	}
	g.live.Add(int64(-removed))
	g.dead.Add(int64(removed))
	return removed
}

// Close waits for searches and gives the memory back; the slab stays open.
func (g *Graph) Close() (err error) {
	g.changes.Lock()
	defer g.changes.Unlock()
	old := g.nodes.Swap(nil)
	if old == nil {
		return nil
	}
	g.vectors.Exclusive(func() { err = old.close() })
	return err
}

// parallel calls f for 0 to n-1 from several goroutines, each with a worker of its own.
func (g *Graph) parallel(n int, f func(w *worker, i int)) {
	var next atomic.Int64
	run := func() {
		w := g.worker()
		defer g.workers.Put(w)
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(w, int(i))
		}
	}
	var wg sync.WaitGroup
	for range min(g.config.Workers, n) - 1 {
		wg.Go(run)
	}
	run()
	wg.Wait()
}

// worker takes a worker from the pool, into which the caller puts it back.
func (g *Graph) worker() *worker {
	w := g.workers.Get().(*worker)
	w.vectors = g.vectors
	return w
}
