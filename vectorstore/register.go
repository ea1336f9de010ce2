// Package vectorstore holds the dense indexes: flat, an exact scan over vectors that lie in memory and in <dir>/rag.db.
//
//	v, err := vectorstore.OpenFlat(dir, vectorstore.FlatConfig{})
//	eng, err := rag.Open(dir, rag.WithVectorStore(v))
package vectorstore

import "github.com/seed-d8745b77/rag"

// Register adds the vector store "flat" to p; its settings are [FlatConfig].
func Register(p *rag.Providers) {
	p.VectorStores.Register("flat", rag.Typed(func(env rag.Env, c FlatConfig) (rag.VectorStore, error) {
		return OpenFlat(env.Dir, c)
	}))
}

func init() { Register(rag.Default) }
