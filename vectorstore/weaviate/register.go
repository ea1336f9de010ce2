package weaviate

import "github.com/seed-d8745b77/rag"

// Register adds the vector store and the sparse index "weaviate" to p; the settings of both are [Config].
func Register(p *rag.Providers) {
	p.VectorStores.Register("weaviate", rag.Typed(func(_ rag.Env, c Config) (rag.VectorStore, error) {
		v, err := NewVectors(c)
		if err != nil {
			return nil, err // not v: a nil *Vectors in an interface is not nil
		}
		return v, nil
	}))
	p.SparseIndexes.Register("weaviate", rag.Typed(func(_ rag.Env, c Config) (rag.SparseIndex, error) {
		x, err := NewTexts(c)
		if err != nil {
			return nil, err
		}
		return x, nil
	}))
}

func init() { Register(rag.Default) }
