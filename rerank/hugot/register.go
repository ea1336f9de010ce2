package hugot

import "github.com/seed-d8745b77/rag"

// Register adds the reranker "hugot" to p.
func Register(p *rag.Providers) {
	p.Rerankers.Register("hugot", rag.Typed(func(_ rag.Env, c Config) (rag.Reranker, error) { return New(c) }))
}

func init() { Register(rag.Default) }
