package coderhnsw

import (
	"math/rand"

	"github.com/coder/hnsw"
)

// graph guards a graph of the module. Nothing is ever deleted from it or added again under the same key, since both
// panic sooner or later in version 0.6.1: each put gets a key of its own, and keys that were replaced or removed are left
// out of what a search finds.
type graph struct {
	nodes  *hnsw.Graph[uint64]
	ids    []string          // by key
	keys   map[string]uint64 // of the records that are there
	broken bool              // the module panicked
}

// seed makes the layers the same from run to run. What a search finds may still differ: the module begins at whatever
// node a map gives it first.
const seed = 1

func newGraph(c Config) *graph {
	g := &graph{nodes: hnsw.NewGraph[uint64](), keys: map[string]uint64{}}
	g.nodes.M, g.nodes.EfSearch, g.nodes.Rng = c.M, c.EfSearch, rand.New(rand.NewSource(seed))
	return g
}

// len is the number of records.
func (g *graph) len() int { return len(g.keys) }

// put adds a record, or replaces the one of this ID. It keeps the vector, which has the graph's length and is not zero.
func (g *graph) put(id string, vector []float32) {
	key := uint64(len(g.ids))
	g.ids = append(g.ids, id)
	g.keys[id] = key
	g.guarded(func() { g.nodes.Add(hnsw.MakeNode(key, vector)) })
}

func (g *graph) remove(id string) { delete(g.keys, id) }

// worn reports whether more than a fifth of the nodes are gone: they stand in the way.
func (g *graph) worn() bool { return len(g.ids)-len(g.keys) > len(g.ids)/5 }

// search returns the IDs of up to k records that are near, in no order.
func (g *graph) search(vector []float32, k int) (ids []string) {
	failed := false
	func() {
		defer func() { failed = recover() != nil }()
		for _, n := range g.nodes.Search(vector, k) {
			id := g.ids[n.Key]
			if key, there := g.keys[id]; there && key == n.Key {
				ids = append(ids, id)
			}
		}
	}()
	if failed {
		return nil
	}
	return ids
}

// guarded runs a change and notes a panic: what the graph holds is not to be trusted then.
func (g *graph) guarded(change func()) {
	if g.broken {
		return
	}
	defer func() { g.broken = recover() != nil }()
	change()
}
