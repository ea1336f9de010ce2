// Package coderhnsw finds nearest vectors with github.com/coder/hnsw, behind guards for what that module does not do.
//
//	v, err := coderhnsw.Open(dir, coderhnsw.Config{})
//	eng, err := rag.Open(dir, rag.WithVectorStore(v))
//
// It finds far less than the store hnsw: README.md has the figures. The package is a module of its own, so that a
// program without it does not get the module's dependencies.
package coderhnsw

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// Config sets up a [Store].
type Config struct {
	M        int `json:"m,omitzero" range:"[4,64]"`           // links of a node on each layer; 0: 16; 4 to 64
	EfSearch int `json:"ef_search,omitzero" range:"[1,4096]"` // candidates kept in reserve by a search; it hardly changes what is found; 0: 20; 1 to 4096
}

// Defaults of [Config], those of the module.
const (
	defaultM        = 16
	defaultEfSearch = 20
)

// deeper is how many times K the graph is asked for. What it returns has no scores and no order, and is compared again.
const deeper = 10

// Store keeps records as [vectorstore.Flat] does, in the same file, and asks a graph of the module for candidates. The graph
// is built in memory at the first search. A search with a filter, of few records, or for more than the graph finds, is
// exact. The store is safe for concurrent use, but only one may be open on a directory.
type Store struct {
	*vectorstore.Flat
	config Config

	mu     sync.RWMutex
	graphs map[string]*graph // by collection; nil: the module failed, searches are exact
}

var (
	_ rag.VectorStore   = (*Store)(nil)
	_ rag.Dropper       = (*Store)(nil)
	_ rag.Fingerprinter = (*Store)(nil)
)

// Open opens the vectors in a directory; dir "" keeps them in memory only. Errors are those of [vectorstore.OpenFlat], and
// ErrInvalid for a setting out of its range.
func Open(dir string, c Config) (*Store, error) {
	c.M, c.EfSearch = cmp.Or(c.M, defaultM), cmp.Or(c.EfSearch, defaultEfSearch)
	if c.M < 4 || c.M > 64 {
		return nil, fmt.Errorf("coderhnsw: m is %d, it must lie between 4 and 64: %w", c.M, rag.ErrInvalid)
	}
	if c.EfSearch < 1 || c.EfSearch > 4096 {
		return nil, fmt.Errorf("coderhnsw: ef_search is %d, it must lie between 1 and 4096: %w", c.EfSearch, rag.ErrInvalid)
	}
	flat, err := vectorstore.OpenFlat(dir, vectorstore.FlatConfig{})
	if err != nil {
		return nil, err
	}
	return &Store{Flat: flat, config: c, graphs: map[string]*graph{}}, nil
}

// Fingerprint names the layout of the stored vectors.
func (s *Store) Fingerprint() string { return "coderhnsw/" + s.Flat.Fingerprint() }

// Upsert writes records durably, as [vectorstore.Flat] does.
func (s *Store) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Flat.Upsert(ctx, collection, recs); err != nil {
		delete(s.graphs, collection) // it may hold less than is stored now
		return err
	}
	if g := s.graphs[collection]; g != nil {
		last := make(map[string]int, len(recs))
		for i, r := range recs {
			last[r.ID] = i
		}
		for i, r := range recs {
			if last[r.ID] == i {
				g.put(r.ID, slices.Clone(r.Vector))
			}
		}
		s.check(collection, g)
	}
	return nil
}

// Delete removes records durably.
func (s *Store) Delete(ctx context.Context, collection string, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Flat.Delete(ctx, collection, ids); err != nil {
		delete(s.graphs, collection)
		return err
	}
	if g := s.graphs[collection]; g != nil {
		for _, id := range ids {
			g.remove(id)
		}
		s.check(collection, g)
	}
	return nil
}

// check gives a graph up that is worn, to be built anew at the next search, or broken, for good.
func (s *Store) check(collection string, g *graph) {
	switch {
	case g.broken:
		s.graphs[collection] = nil
	case g.worn():
		delete(s.graphs, collection)
	}
}

// Drop removes a collection.
func (s *Store) Drop(ctx context.Context, collection string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.graphs, collection)
	return s.Flat.Drop(ctx, collection)
}

// Search returns K matches of the filter by descending cosine, ties by ID; without a filter they are some of the nearest.
func (s *Store) Search(ctx context.Context, collection string, q rag.VectorQuery) ([]rag.Match, error) {
	// Asked for nothing, the exact search checks the question.
	if _, err := s.Flat.Search(ctx, collection, rag.VectorQuery{Vector: q.Vector, Filter: q.Filter}); err != nil {
		return nil, err
	}
	if !q.Filter.IsZero() || q.K <= 0 {
		return s.Flat.Search(ctx, collection, q)
	}
	if err := s.build(ctx, collection); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	g := s.graphs[collection]
	if g == nil || g.len() <= q.K*deeper {
		return s.Flat.Search(ctx, collection, q)
	}
	ids := g.search(q.Vector, q.K*deeper)
	if len(ids) < q.K {
		return s.Flat.Search(ctx, collection, q)
	}
	vectors, err := s.Vectors(ctx, collection, ids)
	if err != nil {
		return nil, err
	}
	matches := make([]rag.Match, len(ids))
	for i, v := range vectors {
		matches[i] = rag.Match{ID: ids[i], Score: dot(q.Vector, v)}
	}
	slices.SortFunc(matches, func(a, b rag.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return matches[:q.K:q.K], nil
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// buildBatch is how many vectors are read at a time.
const buildBatch = 1000

// build makes a collection's graph from its records, if it has none.
func (s *Store) build(ctx context.Context, collection string) error {
	s.mu.RLock()
	_, there := s.graphs[collection]
	s.mu.RUnlock()
	if there {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.graphs[collection]; there {
		return nil
	}
	var ids []string
	for id, err := range s.IDs(ctx, collection) {
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	g := newGraph(s.config)
	for part := range slices.Chunk(ids, buildBatch) {
		vectors, err := s.Vectors(ctx, collection, part)
		if err != nil {
			return err
		}
		for i, id := range part {
			g.put(id, vectors[i])
		}
	}
	s.graphs[collection] = g
	s.check(collection, g)
	return nil
}
