package chroma

import "github.com/seed-d8745b77/rag"

// Register adds the vector store "chroma" to p; its settings are [Config].
func Register(p *rag.Providers) {
	p.VectorStores.Register("chroma", rag.Typed(func(_ rag.Env, c Config) (rag.VectorStore, error) {
		s, err := New(c)
		if err != nil {
			return nil, err // not s: a nil *Store in an interface is not nil
		}
		return s, nil
	}))
}

func init() { Register(rag.Default) }
