package verify

import "github.com/seed-d8745b77/rag"

func init() { Register(rag.Default) }

// Register adds the verifiers "overlap", which uses the engine's embedder, and "llm", which asks its chat model, to p; their
// settings are those of [OverlapConfig] and [LLMConfig].
func Register(p *rag.Providers) {
	p.Verifiers.Register("overlap", rag.Typed(func(env rag.Env, c OverlapConfig) (rag.Verifier, error) {
		return orNil(NewOverlap(env.Embedder, c))
	}))
	p.Verifiers.Register("llm", rag.Typed(func(env rag.Env, c LLMConfig) (rag.Verifier, error) {
		return orNil(NewLLM(env.Chat, c))
	}))
}

// orNil keeps a failed constructor from becoming a provider that is not nil.
func orNil[V rag.Verifier](v V, err error) (rag.Verifier, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
