package embed

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// Register adds the embedding cache "file" to p; its settings are those of [CacheConfig]. In an engine without a
// directory it keeps nothing.
func Register(p *rag.Providers) {
	p.EmbedCaches.Register("file", rag.Typed(func(env rag.Env, c CacheConfig) (rag.EmbedCache, error) {
		if env.Dir == "" {
			return forgetful{}, nil
		}
		return OpenCache(env.Dir, c, env.Logger)
	}))
}

func init() { Register(rag.Default) }

// forgetful is the cache of an engine that keeps nothing on disk: there is no later run that could use it.
type forgetful struct{}

func (forgetful) Get(_ context.Context, keys []rag.EmbedKey) ([][]float32, error) {
	return make([][]float32, len(keys)), nil
}

func (forgetful) Put(context.Context, []rag.EmbedKey, [][]float32) error { return nil }
