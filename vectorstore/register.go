// Package vectorstore holds the dense indexes, over vectors that lie in memory and in <dir>/rag.db: hnsw, a graph that
// finds nearly all of the nearest in the fraction of a millisecond, and flat, which compares with every vector.
//
//	v, err := vectorstore.OpenHNSW(dir, vectorstore.HNSWConfig{})
//	eng, err := rag.Open(dir, rag.WithVectorStore(v))
package vectorstore

import (
	"errors"

	"github.com/seed-d8745b77/rag"
)

// Register adds the vector stores "hnsw" and "flat" to p; their settings are [HNSWConfig] and [FlatConfig].
func Register(p *rag.Providers) {
	p.VectorStores.Register("hnsw", rag.Typed(func(env rag.Env, c HNSWConfig) (rag.VectorStore, error) {
		h, err := OpenHNSW(env.Dir, c)
		if err != nil || env.Snapshot == "" {
			return h, err
		}
		h.temporary = true
		if err := copyGraphs(env.Snapshot, env.Dir); err != nil {
			return nil, errors.Join(err, h.Close())
		}
		return h, nil
	}))
	p.VectorStores.Register("flat", rag.Typed(func(env rag.Env, c FlatConfig) (rag.VectorStore, error) {
		return OpenFlat(env.Dir, c)
	}))
}

func init() { Register(rag.Default) }
