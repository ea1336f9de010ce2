package llm

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// Register adds to p "openai" and the services that speak its protocol ("deepseek", "mistral", "groq", "openrouter",
// "vllm", "lm-studio"), "azure", "anthropic", "ollama" and "failover". A key that the settings do not give is looked for
// in the environment that [rag.WithGetenv] gave: OPENAI_API_KEY, ANTHROPIC_API_KEY and so on. It is sent to the
// provider's own address only; where base_url names another, the key must stand in the settings.
func Register(p *rag.Providers) {
	for _, at := range modelapi.Places {
		p.ChatModels.Register(at.Provider, rag.Typed(func(env rag.Env, c OpenAIConfig) (rag.ChatModel, error) {
			c.ServiceConfig = c.in(env, at)
			return made(newOpenAI(at, c))
		}))
	}
	p.ChatModels.Register("azure", rag.Typed(func(env rag.Env, c AzureConfig) (rag.ChatModel, error) {
		c.ServiceConfig = c.in(env, modelapi.Azure)
		return made(NewAzure(c))
	}))
	p.ChatModels.Register("anthropic", rag.Typed(func(env rag.Env, c AnthropicConfig) (rag.ChatModel, error) {
		c.ServiceConfig = c.in(env, modelapi.Anthropic)
		return made(NewAnthropic(c))
	}))
	p.ChatModels.Register("ollama", rag.Typed(func(env rag.Env, c OllamaConfig) (rag.ChatModel, error) {
		c.ServiceConfig = c.in(env, modelapi.Ollama)
		return made(NewOllama(c))
	}))
	p.ChatModels.Register("failover", rag.Typed(func(env rag.Env, c FailoverConfig) (rag.ChatModel, error) {
		var models []rag.ChatModel
		for i, m := range c.Models {
			at := fmt.Sprintf("models.%d", i)
			if m.Provider == "" {
				return nil, &rag.ConfigError{Key: at, Err: fmt.Errorf("the key provider is missing: %w", rag.ErrInvalid)}
			}
			model, err := p.ChatModels.New(m.Provider, env, m.Settings)
			if err != nil {
				return nil, rag.InConfig(at, err)
			}
			models = append(models, model)
		}
		return made(NewFailover(env.Logger, models...))
	}))
}

func init() { Register(rag.Default) }

// FailoverConfig are the settings of the provider "failover".
type FailoverConfig struct {
	Models []rag.ProviderConfig `json:"models"` // in the order in which they are asked; at least one
}

// in completes settings by what the engine gives: its logger, and a key from the environment.
func (c ServiceConfig) in(env rag.Env, at modelapi.Place) ServiceConfig {
	c.Logger, c.APIKey = env.Logger, at.KeyFor(c.APIKey, c.BaseURL, env.Getenv)
	return c
}

// made keeps a nil pointer out of the interface.
func made[M rag.ChatModel](m M, err error) (rag.ChatModel, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
