package transform

import "github.com/seed-d8745b77/rag"

func init() { Register(rag.Default) }

// Register adds "context".
func Register(p *rag.Providers) {
	p.Transformers.Register("context", rag.Typed(func(rag.Env, struct{}) (rag.Transformer, error) {
		return NewContext(), nil
	}))
}
