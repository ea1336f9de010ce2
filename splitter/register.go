package splitter

import "github.com/seed-d8745b77/rag"

func init() { Register(rag.Default) }

// Register adds "recursive", "section" and "fixed". Their chunks are sized in the tokens of the engine's embedder.
func Register(p *rag.Providers) {
	p.Splitters.Register("recursive", rag.Typed(factory("recursive", maxAbsorbed)))
	p.Splitters.Register("section", rag.Typed(factory("section", 0)))
	p.Splitters.Register("fixed", rag.Typed(func(env rag.Env, c Config) (rag.Splitter, error) {
		s, err := newFixed(c, env.Tokens, window(env))
		if err != nil {
			return nil, err
		}
		return s, nil
	}))
}

func factory(name string, absorbed int) func(rag.Env, Config) (rag.Splitter, error) {
	return func(env rag.Env, c Config) (rag.Splitter, error) {
		s, err := newSplitter(name, c, env.Tokens, window(env), absorbed)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// window is the longest input of the engine's embedder in tokens; 0 if there is none.
func window(env rag.Env) int {
	if env.Embedder == nil {
		return 0
	}
	return env.Embedder.Model().MaxTokens
}
