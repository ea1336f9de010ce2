package rewrite

import "github.com/seed-d8745b77/rag"

// Register adds the query transformers "multi_query", "hyde", "step_back", "decompose" and "history" to p; their settings
// are those of [MultiQueryConfig], [HyDEConfig], [StepBackConfig], [DecomposeConfig] and [HistoryConfig]. They ask the
// engine's chat model; the first three cannot do without.
func Register(p *rag.Providers) {
	p.QueryTransformers.Register("multi_query", rag.Typed(func(env rag.Env, c MultiQueryConfig) (rag.QueryTransformer, error) {
		c.Now = env.Now
		return made(NewMultiQuery(env.Chat, c))
	}))
	p.QueryTransformers.Register("hyde", rag.Typed(func(env rag.Env, c HyDEConfig) (rag.QueryTransformer, error) {
		c.Now = env.Now
		return made(NewHyDE(env.Chat, c))
	}))
	p.QueryTransformers.Register("step_back", rag.Typed(func(env rag.Env, c StepBackConfig) (rag.QueryTransformer, error) {
		c.Now = env.Now
		return made(NewStepBack(env.Chat, c))
	}))
	p.QueryTransformers.Register("decompose", rag.Typed(func(env rag.Env, c DecomposeConfig) (rag.QueryTransformer, error) {
		c.Now = env.Now
		return made(NewDecompose(env.Chat, c))
	}))
	p.QueryTransformers.Register("history", rag.Typed(func(env rag.Env, c HistoryConfig) (rag.QueryTransformer, error) {
		c.Now = env.Now
		return made(NewHistory(env.Chat, c))
	}))
}

func init() { Register(rag.Default) }

// made keeps a nil pointer out of the interface.
func made[T rag.QueryTransformer](t T, err error) (rag.QueryTransformer, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
