package hugot

import "github.com/seed-d8745b77/rag"

// Register adds the embedder "hugot" to p.
func Register(p *rag.Providers) {
	p.Embedders.Register("hugot", rag.Typed(func(_ rag.Env, c Config) (rag.Embedder, error) { return New(c) }))
}

func init() { Register(rag.Default) }
