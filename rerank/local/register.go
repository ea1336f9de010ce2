package local

import "github.com/seed-d8745b77/rag"

// Register adds the reranker "local" to p.
func Register(p *rag.Providers) {
	p.Rerankers.Register("local", rag.Typed(func(_ rag.Env, c Config) (rag.Reranker, error) { return New(c) }))
}

func init() { Register(rag.Default) }
