package rerank

import "github.com/seed-d8745b77/rag"

// Register adds the rerankers "maxsim", "http" and "llm" to p; their settings are those of [MaxSimConfig], [HTTPConfig]
// and [LLMConfig]. "llm" asks the chat model of the engine.
func Register(p *rag.Providers) {
	p.Rerankers.Register("maxsim", rag.Typed(func(env rag.Env, c MaxSimConfig) (rag.Reranker, error) {
		return made(NewMaxSim(env.Embedder, c))
	}))
	p.Rerankers.Register("http", rag.Typed(func(_ rag.Env, c HTTPConfig) (rag.Reranker, error) {
		return made(NewHTTP(c))
	}))
	p.Rerankers.Register("llm", rag.Typed(func(env rag.Env, c LLMConfig) (rag.Reranker, error) {
		return made(NewLLM(env.Chat, c))
	}))
}

func init() { Register(rag.Default) }

// made keeps a nil pointer out of the interface.
func made[R rag.Reranker](r R, err error) (rag.Reranker, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
