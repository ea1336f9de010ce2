package splitter

import "github.com/seed-d8745b77/rag"

func init() { Register(rag.Default) }

// Register adds "recursive" and "section". Their chunks are sized in the tokens of the engine's embedder.
func Register(p *rag.Providers) {
	p.Splitters.Register("recursive", rag.Typed(factory("recursive", maxAbsorbed)))
	p.Splitters.Register("section", rag.Typed(factory("section", 0)))
}

func factory(name string, absorbed int) func(rag.Env, Config) (rag.Splitter, error) {
	return func(env rag.Env, c Config) (rag.Splitter, error) {
		window := 0
		if env.Embedder != nil {
			window = env.Embedder.Model().MaxTokens
		}
		s, err := newSplitter(name, c, env.Tokens, window, absorbed)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}
