//go:build unix

package defaults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/internal/modelservers"
	"github.com/seed-d8745b77/rag/internal/testserver"
)

// llmock is started by the first test that asks for it, and ends with the tests.
var llmock *testserver.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if llmock != nil {
		llmock.Stop()
	}
	os.Exit(code)
}

// scripted returns llmock's address, told what to do with the next requests.
func scripted(t *testing.T, behaviours ...string) string {
	t.Helper()
	if llmock == nil {
		llmock = modelservers.Llmock(t)
	}
	modelservers.Script(t, llmock.URL, behaviours...)
	return llmock.URL
}

// wellBehaved asks llmock what it thinks of how it was asked.
func wellBehaved(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url + "/_llmock/verdict")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var verdict struct {
		Passed   bool
		Findings []struct{ Title string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&verdict); err != nil || !verdict.Passed || len(verdict.Findings) > 0 {
		t.Errorf("llmock's verdict: %+v, error %v", verdict, err)
	}
}

// chat makes a chat model of settings.
func chat(t *testing.T, provider, url, more string) rag.ChatModel {
	t.Helper()
	settings := fmt.Appendf(nil, `{"model":"m","api_key":"sk-canary-1234567890","base_url":%q%s}`, url, more)
	m, err := rag.Default.ChatModels.New(provider, rag.Env{}, settings)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reply is what a model said.
type reply struct {
	text   string
	pieces int
	calls  []rag.ToolCall
	stop   string
	usage  rag.ChatUsage
}

func ask(ctx context.Context, m rag.ChatModel, req rag.ChatRequest) (r reply, err error) {
	for piece, err := range m.Chat(ctx, req) {
		if err != nil {
			return r, err
		}
		if piece.Text != "" {
			r.pieces++
		}
		r.text += piece.Text
		r.calls = append(r.calls, piece.Calls...)
		r.stop, r.usage = piece.Stop, piece.Usage
	}
	return r, nil
}

// speakers are the protocols that llmock speaks, and where.
var speakers = map[string]string{"openai": "/v1", "mistral": "/mistral/v1", "groq": "/groq/openai/v1", "anthropic": "/anthropic"}

func TestModelServersChat(t *testing.T) {
	for provider, path := range speakers {
		t.Run(provider, func(t *testing.T) {
			url := scripted(t, `{"type":"reply","text":"The ferry leaves at seven."}`)
			got, err := ask(t.Context(), chat(t, provider, url+path, ""), request("When?"))
			counts := got.usage.OutputTokens > 0 || provider == "mistral" // which sends usage unasked, and its make-believe does not
			if err != nil || got.text != "The ferry leaves at seven." || got.pieces < 2 || got.stop != rag.StopEnd || !counts {
				t.Errorf("got %+v, error %v", got, err)
			}
			wellBehaved(t, url)
		})
	}
}

func TestModelServersTools(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			url := scripted(t, `{"type":"reply","tool_calls":[{"name":"search","arguments":{"q":"ferry"}},{"name":"search","arguments":{"q":"bac"}}]}`)
			m := chat(t, provider, url+speakers[provider], "")
			req := request("When does the ferry leave?")
			req.Tools = []rag.ChatTool{{Name: "search", Description: "Finds passages.", Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`)}}
			got, err := ask(t.Context(), m, req)
			if err != nil || len(got.calls) != 2 || got.stop != rag.StopTools || got.calls[0].Name != "search" || !strings.Contains(string(got.calls[1].Arguments), `"bac"`) {
				t.Fatalf("got %+v, error %v", got, err)
			}
			req.Messages = append(req.Messages, rag.ChatMessage{Role: rag.RoleAssistant, Calls: got.calls})
			for _, c := range got.calls {
				req.Messages = append(req.Messages, rag.ChatMessage{Role: rag.RoleTool, CallID: c.ID, Text: "At seven."})
			}
			if got, err = ask(t.Context(), m, req); err != nil || got.text == "" || got.stop != rag.StopEnd {
				t.Errorf("after the results: got %+v, error %v", got, err)
			}
			wellBehaved(t, url)
		})
	}
}

func TestModelServersVisionAndSchema(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			url := scripted(t, `{"type":"reply","text":"{\"n\": 1}"}`)
			req := request("How many?")
			req.Messages[1].Images = []rag.ChatImage{{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
			req.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)
			if got, err := ask(t.Context(), chat(t, provider, url+speakers[provider], ""), req); err != nil || got.text != `{"n": 1}` {
				t.Errorf("got %+v, error %v", got, err)
			}
			wellBehaved(t, url)
		})
	}
}

func TestModelServersFail(t *testing.T) {
	for name, c := range map[string]struct {
		behaviour string
		settings  string
		kind      error // nil: another try helps
		text      bool  // some of it comes before the error
		says      string
	}{
		"busy, and says how long": {`{"type":"fail","status":429,"retry_after":1}`, "", nil, true, ""},
		"busy twice":              {`{"type":"fail","status":503,"times":2}`, "", nil, true, ""},
		"refuses the key":         {`{"type":"fail","status":401,"message":"wrong key sk-canary-1234567890"}`, "", rag.ErrInvalid, false, "refuses the key"},
		"knows no such model":     {`{"type":"fail","status":404,"message":"no model for sk-canary-1234567890"}`, "", rag.ErrNotFound, false, "***"},
		"refuses the question":    {`{"type":"fail","status":400,"message":"too long"}`, "", rag.ErrInvalid, false, "too long"},
		"breaks off":              {`{"type":"stream_fault","kind":"disconnect","after_chunks":5}`, "", rag.ErrUnavailable, true, ""},
		"ends too early":          {`{"type":"stream_fault","kind":"truncate","after_chunks":5}`, "", rag.ErrUnavailable, true, "ended before"},
		"sends garbage":           {`{"type":"stream_fault","kind":"malformed","after_chunks":5}`, "", rag.ErrUnavailable, true, "no JSON"},
		"does not begin":          {`{"type":"slow_first_token","seconds":60}`, `,"first_byte_timeout_ms":300`, rag.ErrUnavailable, false, "does not begin"},
		"stops":                   {`{"type":"stream_fault","kind":"stall","after_chunks":5,"stall_seconds":60}`, `,"idle_timeout_ms":300`, rag.ErrUnavailable, true, "has stopped"},
	} {
		for _, provider := range []string{"openai", "anthropic"} {
			t.Run(name+"/"+provider, func(t *testing.T) {
				url := scripted(t, c.behaviour, `{"type":"reply","text":"one two three four five six seven eight nine ten"}`)
				got, err := ask(t.Context(), chat(t, provider, url+speakers[provider], c.settings), request("Count."))
				if !errors.Is(err, c.kind) || (got.text != "") != c.text {
					t.Fatalf("got %q, error %v; want %v", got.text, err, c.kind)
				}
				if err == nil {
					wellBehaved(t, url)
				} else if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
					t.Errorf("error %q, want one that says %q and no key", err, c.says)
				}
			})
		}
	}
}

func TestModelServersCancel(t *testing.T) {
	url := scripted(t, `{"type":"stream_fault","kind":"stall","after_chunks":5,"stall_seconds":60}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range chat(t, "openai", url+"/v1", "").Chat(ctx, request("Count.")) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", last)
	}
}

func TestModelServersFailover(t *testing.T) {
	url := scripted(t, `{"type":"fail","status":503,"match":{"path":"/v1/*"}}`, `{"type":"reply","text":"at seven"}`)
	settings := fmt.Appendf(nil, `{"models":[{"provider":"openai","model":"a","base_url":"%s/v1","tries":1},{"provider":"anthropic","model":"b","base_url":"%s/anthropic"}]}`, url, url)
	m, err := rag.Default.ChatModels.New("failover", rag.Env{}, settings)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ask(t.Context(), m, request("When?")); err != nil || got.text != "at seven" {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestModelServersEmbed(t *testing.T) {
	url := scripted(t, `{"type":"fail","status":429,"retry_after":1}`)
	settings := fmt.Appendf(nil, `{"model":"m","api_key":"k","base_url":"%s/v1"}`, url)
	e, err := rag.Default.Embedders.New("openai", rag.Env{}, settings) // asks for the length
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(t.Context(), rag.AsPassage, []string{"a ferry", "a bridge"})
	if err != nil || len(vectors) != 2 || len(vectors[0]) != e.Model().Dims || e.Model().Dims == 0 {
		t.Errorf("got %d vectors for a model %+v, error %v", len(vectors), e.Model(), err)
	}
	wellBehaved(t, url)
}

// The second opinion on both protocols.
func TestMockAI(t *testing.T) {
	server, anthropic := modelservers.MockAI(t)
	t.Cleanup(server.Stop)
	for provider, url := range map[string]string{"openai": server.URL + "/v1", "anthropic": anthropic} {
		if got, err := ask(t.Context(), chat(t, provider, url, ""), request("hello")); err != nil || got.text == "" || got.stop != rag.StopEnd || got.usage.InputTokens == 0 {
			t.Errorf("%s: got %+v, error %v", provider, got, err)
		}
	}
	e, err := rag.Default.Embedders.New("openai", rag.Env{}, fmt.Appendf(nil, `{"model":"text-embedding-3-small","api_key":"k","base_url":"%s/v1"}`, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if vectors, err := e.Embed(t.Context(), rag.AsQuestion, []string{"a ferry"}); err != nil || len(vectors) != 1 {
		t.Errorf("got %d vectors, error %v", len(vectors), err)
	}
}
