package llm_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/llm"
	"github.com/seed-d8745b77/rag/ragtest"
)

// settings reach a fake service, once.
func settings(url string) llm.ServiceConfig {
	return llm.ServiceConfig{Model: "m", BaseURL: url, APIKey: ragtest.ChatKey, Tries: 1}
}

// made returns a model or ends the test.
func made[M rag.ChatModel](t *testing.T) func(m M, err error) rag.ChatModel {
	return func(m M, err error) rag.ChatModel {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// models are the ways to make each model over a fake service.
var models = map[string]struct {
	speaks protocol
	open   func(t *testing.T, url string) rag.ChatModel
}{
	"openai": {openAI, func(t *testing.T, url string) rag.ChatModel {
		return made[*llm.OpenAI](t)(llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: settings(url)}))
	}},
	"azure": {openAI, func(t *testing.T, url string) rag.ChatModel {
		return made[*llm.Azure](t)(llm.NewAzure(llm.AzureConfig{ServiceConfig: settings(url)}))
	}},
	"anthropic": {anthropic, func(t *testing.T, url string) rag.ChatModel {
		return made[*llm.Anthropic](t)(llm.NewAnthropic(llm.AnthropicConfig{ServiceConfig: settings(url)}))
	}},
	"ollama": {ollama, func(t *testing.T, url string) rag.ChatModel {
		return made[*llm.Ollama](t)(llm.NewOllama(llm.OllamaConfig{ServiceConfig: settings(url)}))
	}},
	"failover": {openAI, func(t *testing.T, url string) rag.ChatModel {
		return made[*llm.Failover](t)(llm.NewFailover(nil, &ragtest.Script{Turns: []ragtest.Turn{{Err: rag.ErrUnavailable}}},
			made[*llm.OpenAI](t)(llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: settings(url)}))))
	}},
}

func TestChatModels(t *testing.T) {
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			ragtest.TestChatModel(t, func(t *testing.T, scene ragtest.ChatScene) rag.ChatModel {
				return m.open(t, play(t, m.speaks, scene))
			})
		})
	}
}
