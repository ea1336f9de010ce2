package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/llm"
	"github.com/seed-d8745b77/rag/ragtest"
)

// byName makes a model as the configuration does.
func byName(t *testing.T, provider, settings string, env rag.Env) rag.ChatModel {
	t.Helper()
	m, err := rag.Default.ChatModels.New(provider, env, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestServicesAreWhereTheyAre(t *testing.T) {
	for provider, want := range map[string]string{
		"openai": "openai/m@api.openai.com", "deepseek": "deepseek/m@api.deepseek.com", "mistral": "mistral/m@api.mistral.ai",
		"groq": "groq/m@api.groq.com", "openrouter": "openrouter/m@openrouter.ai", "vllm": "vllm/m@127.0.0.1:8000",
		"lm-studio": "lm-studio/m@127.0.0.1:1234", "anthropic": "anthropic/m@api.anthropic.com", "ollama": "ollama/m@127.0.0.1:11434",
	} {
		m := byName(t, provider, `{"model":"m"}`, rag.Env{})
		if got := m.(rag.Fingerprinter).Fingerprint(); got != want {
			t.Errorf("%s: got %q, want %q", provider, got, want)
		}
		err := m.(interface{ Ready() error }).Ready()
		if needs := !strings.Contains(want, "127.0.0.1"); needs != errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s without a key: %v", provider, err)
		}
	}
}

// What is known of a service is not sent to it even once.
func TestPeculiarServices(t *testing.T) {
	req := conversation()
	req.Messages[1].Images = nil
	for provider, check := range map[string]func(r request) bool{
		"deepseek": func(r request) bool {
			return cmp.Equal(r.field("response_format"), map[string]any{"type": "json_object"}) && r.field("max_tokens") == 50.0
		},
		"mistral": func(r request) bool { return r.field("stream_options") == nil && r.field("response_format") != nil },
		"groq":    func(r request) bool { return r.field("stream_options") != nil && r.Headers["x-gateway"] == "yes" },
	} {
		url, seen := recorder(t)
		m := byName(t, provider, fmt.Sprintf(`{"model":"m","base_url":%q,"tries":1,"headers":{"X-Gateway":"yes"}}`, url), rag.Env{})
		for range m.Chat(t.Context(), req) { // the recorder refuses
		}
		if len(*seen) != 1 || !check((*seen)[0]) {
			t.Errorf("%s: %+v", provider, *seen)
		}
	}
}

func TestSettingsThatCannotBeRight(t *testing.T) {
	for name, c := range map[string]struct{ provider, settings, says string }{
		"no model":            {"openai", `{}`, "model"},
		"an unknown key":      {"openai", `{"mode":"m"}`, `did you mean "model"?`},
		"no address":          {"openai", `{"model":"m","base_url":"localhost:8000"}`, "base_url"},
		"a query":             {"openai", `{"model":"m","base_url":"https://h/v1?key=x"}`, "base_url"},
		"a key with a blank":  {"openai", `{"model":"m","api_key":"sk canary"}`, "api_key"},
		"a limit below 0":     {"ollama", `{"model":"m","tries":-1}`, "tries: want a whole number from 1"},
		"no context":          {"ollama", `{"model":"m","context_tokens":-1}`, "context_tokens"},
		"no length":           {"anthropic", `{"model":"m","max_tokens":-1}`, "max_tokens"},
		"azure somewhere":     {"azure", `{"model":"m"}`, "base_url"},
		"failover to nothing": {"failover", `{}`, "models"},
		"failover to nobody":  {"failover", `{"models":[{"provider":"nobody"}]}`, "nobody"},
	} {
		_, err := rag.Default.ChatModels.New(c.provider, rag.Env{}, []byte(c.settings))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") ||
			!errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnknownProvider) {
			t.Errorf("%s: got error %v, want one that says %q", name, err, c.says)
		}
	}
}

// scene is a model that says some of a reply and then fails.
type scene struct {
	text string
	err  error
	n    *int
}

func (s scene) Chat(context.Context, rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		*s.n++
		if s.text != "" && !yield(rag.ChatDelta{Text: s.text}, nil) {
			return
		}
		if s.err != nil {
			yield(rag.ChatDelta{}, s.err)
		}
	}
}

func TestFailoverAsksTheNextOnlyWhereItHelps(t *testing.T) {
	down := fmt.Errorf("down: %w", rag.ErrUnavailable)
	for name, c := range map[string]struct {
		first scene
		text  string
		err   error
		asked int // of the second
	}{
		"down":            {scene{err: down}, "second", nil, 1},
		"breaks off":      {scene{text: "half", err: down}, "half", rag.ErrUnavailable, 0},
		"refuses the key": {scene{err: rag.ErrInvalid}, "", rag.ErrInvalid, 0},
		"well":            {scene{text: "first"}, "first", nil, 0},
	} {
		n, asked := 0, 0
		c.first.n = &n
		m, err := llm.NewFailover(nil, c.first, scene{text: "second", n: &asked})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		var last error
		for piece, err := range m.Chat(t.Context(), rag.ChatRequest{}) {
			text, last = text+piece.Text, err
		}
		if text != c.text || !errors.Is(last, c.err) || asked != c.asked || n != 1 {
			t.Errorf("%s: got %q, error %v, the second was asked %d times", name, text, last, asked)
		}
	}
	m, err := llm.NewFailover(nil, &ragtest.Script{Err: down}, &ragtest.Script{Err: fmt.Errorf("away: %w", rag.ErrUnavailable)})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Chat(t.Context(), rag.ChatRequest{}) {
		if !errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "down") || !strings.Contains(err.Error(), "away") {
			t.Errorf("all are down: %v", err)
		}
	}
}
