package coderhnsw

import "github.com/seed-d8745b77/rag"

// Register adds the vector store "coderhnsw" to p.
func Register(p *rag.Providers) {
	p.VectorStores.Register("coderhnsw", rag.Typed(func(env rag.Env, c Config) (rag.VectorStore, error) { return Open(env.Dir, c) }))
}

func init() { Register(rag.Default) }
