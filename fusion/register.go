package fusion

import "github.com/seed-d8745b77/rag"

// Register adds the fusers of this room to p: "rrf" and "weighted".
func Register(p *rag.Providers) {
	p.Fusers.Register("rrf", rag.Typed(func(_ rag.Env, c RRFConfig) (rag.Fuser, error) { return RRF(c) }))
	p.Fusers.Register("weighted", rag.Typed(func(_ rag.Env, c WeightedConfig) (rag.Fuser, error) { return Weighted(c) }))
}

func init() { Register(rag.Default) }
