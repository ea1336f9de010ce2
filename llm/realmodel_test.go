package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/llm"
)

// realModels are the providers over a real model, which scripts/serve-small-model serves. What it says is nonsense; how it
// says it is what is tested. It speaks both forms, and takes a second for a few words.
func realModels(t *testing.T) map[string]rag.ChatModel {
	t.Helper()
	url := os.Getenv("RAG_MODEL_SERVER")
	if url == "" {
		t.Skip("skipped: RAG_MODEL_SERVER names no server; scripts/serve-small-model starts one")
	}
	service := llm.ServiceConfig{BaseURL: strings.TrimSuffix(url, "/") + "/v1", Model: "gemma3-270m", Tries: 1}
	open, err := llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: service})
	if err != nil {
		t.Fatal(err)
	}
	service.BaseURL = strings.TrimSuffix(url, "/")
	claude, err := llm.NewAnthropic(llm.AnthropicConfig{ServiceConfig: service})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]rag.ChatModel{"openai": open, "anthropic": claude}
}

// shortReply is as many tokens as a busy machine makes in a few seconds.
const shortReply = 12

func TestARealModelStreams(t *testing.T) {
	for name, model := range realModels(t) {
		t.Run(name, func(t *testing.T) {
			pieces, text := 0, ""
			var end rag.ChatDelta
			start := time.Now()
			for delta, err := range model.Chat(t.Context(), rag.ChatRequest{Messages: user("Count: one two three four"), MaxTokens: shortReply}) {
				if err != nil {
					t.Fatal(err)
				}
				if delta.Text != "" {
					pieces++
				}
				text += delta.Text
				end = delta
			}
			if pieces < 2 || text == "" || end.Stop != rag.StopLength && end.Stop != rag.StopEnd {
				t.Errorf("%d pieces of %q, stop %q", pieces, text, end.Stop)
			}
			if end.Usage.InputTokens == 0 || end.Usage.OutputTokens == 0 || end.Usage.OutputTokens > shortReply {
				t.Errorf("usage %+v", end.Usage)
			}
			t.Logf("%d tokens in %d pieces, %v: %q", end.Usage.OutputTokens, pieces, time.Since(start).Round(time.Millisecond), text)
		})
	}
}

// The model is held to a schema by its server: whatever it would like to say, the reply is such an object. llama.cpp passes
// over the schema of Anthropic's form.
func TestARealModelKeepsToASchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"label":{"type":"string","enum":["chat","search"]}},"required":["label"],"additionalProperties":false}`)
	reply, err := rag.Reply(t.Context(), realModels(t)["openai"], rag.ChatRequest{
		Messages: user("Is this chat or search? Hello. Reply with JSON."), Schema: schema, MaxTokens: 2 * shortReply,
	}, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Label string }
	if err := json.Unmarshal([]byte(reply.Text), &got); err != nil || got.Label != "chat" && got.Label != "search" {
		t.Errorf("got %q: %v", reply.Text, err)
	}
}

func TestARealModelIsCancelled(t *testing.T) {
	for name, model := range realModels(t) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pieces := 0
			var failed error
			for delta, err := range model.Chat(ctx, rag.ChatRequest{Messages: user("Tell a long story."), MaxTokens: 900}) {
				if failed = err; err == nil && delta.Text != "" {
					pieces++
					cancel()
				}
			}
			if !errors.Is(failed, context.Canceled) || pieces == 0 || pieces > 10 {
				t.Errorf("%d pieces, %v", pieces, failed)
			}
			// A server that went on would keep its only place taken for minutes.
			next, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if _, err := rag.Reply(next, model, rag.ChatRequest{Messages: user("Hi"), MaxTokens: 2}, 1<<10); err != nil {
				t.Errorf("the next question: %v", err)
			}
		})
	}
}

func TestARealModelRefusesALongPrompt(t *testing.T) {
	for name, model := range realModels(t) {
		t.Run(name, func(t *testing.T) {
			_, err := rag.Reply(t.Context(), model, rag.ChatRequest{Messages: user(strings.Repeat("the notice period is three months and ", 600)), MaxTokens: 2}, 1<<10)
			if !errors.Is(err, rag.ErrInvalid) || errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "context") {
				t.Errorf("got %v", err)
			}
			t.Log(err)
		})
	}
}

func user(text string) []rag.ChatMessage {
	return []rag.ChatMessage{{Role: rag.RoleUser, Text: text}}
}
