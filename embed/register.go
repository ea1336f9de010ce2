package embed

import (
	"context"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// Register adds the embedding cache "file" to p, with the settings of [CacheConfig], and the embedders "openai", the
// services that speak its protocol ("mistral", "openrouter", "vllm", "lm-studio"), "azure" and "ollama". In an engine without a directory the cache keeps nothing. A key that the settings do not give is looked for
// in the environment that [rag.WithGetenv] gave, for the provider's own address only.
func Register(p *rag.Providers) {
	p.EmbedCaches.Register("file", rag.Typed(func(env rag.Env, c CacheConfig) (rag.EmbedCache, error) {
		if env.Dir == "" {
			return forgetful{}, nil
		}
		return OpenCache(env.Dir, c, env.Logger)
	}))
	// Opening an engine has no context; a request for the length of vectors ends by its time-out.
	for _, at := range modelapi.Places {
		if !at.Embeds {
			continue
		}
		p.Embedders.Register(at.Provider, rag.Typed(func(env rag.Env, c OpenAIConfig) (rag.Embedder, error) {
			c.APIKey = at.KeyFor(c.APIKey, c.BaseURL, env.Getenv)
			return made(newOpenAI(context.Background(), at, c))
		}))
	}
	p.Embedders.Register("azure", rag.Typed(func(env rag.Env, c AzureConfig) (rag.Embedder, error) {
		c.APIKey = modelapi.Azure.KeyFor(c.APIKey, c.BaseURL, env.Getenv)
		return made(NewAzure(context.Background(), c))
	}))
	p.Embedders.Register("ollama", rag.Typed(func(_ rag.Env, c OllamaConfig) (rag.Embedder, error) {
		return made(NewOllama(context.Background(), c))
	}))
}

func init() { Register(rag.Default) }

// made keeps a nil pointer out of the interface.
func made[E rag.Embedder](e E, err error) (rag.Embedder, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// forgetful is the cache of an engine that keeps nothing on disk: there is no later run that could use it.
type forgetful struct{}

func (forgetful) Get(_ context.Context, keys []rag.EmbedKey) ([][]float32, error) {
	return make([][]float32, len(keys)), nil
}

func (forgetful) Put(context.Context, []rag.EmbedKey, [][]float32) error { return nil }
