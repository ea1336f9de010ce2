package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/llm"
)

// request is one as scripts/llm/record.py writes it.
type request struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"`
}

// official reads what the provider's own client sends.
func official(t *testing.T, name string) (r request) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "official", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// recorder keeps the requests that come, and refuses them with the replies, or else as impossible.
func recorder(t *testing.T, replies ...string) (url string, seen *[]request) {
	t.Helper()
	seen = new([]request)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{Path: r.URL.RequestURI(), Headers: map[string]string{}}
		for name := range r.Header {
			got.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(b, &got.Body)
		}
		if err != nil {
			t.Error(err)
		}
		*seen = append(*seen, got)
		if n := len(*seen); n <= len(replies) {
			if strings.HasPrefix(replies[n-1], "data:") {
				w.Header().Set("Content-Type", "text/event-stream")
			} else {
				w.WriteHeader(http.StatusBadRequest)
			}
			_, _ = io.WriteString(w, replies[n-1])
			return
		}
		http.Error(w, `{"error": "recorded"}`, http.StatusBadRequest)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, seen
}

// conversation is the one of scripts/llm/record.py.
func conversation() rag.ChatRequest {
	return rag.ChatRequest{
		Messages: []rag.ChatMessage{
			{Role: rag.RoleSystem, Text: "Be short."},
			{Role: rag.RoleUser, Text: "What is this? é", Images: []rag.ChatImage{{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}},
			{Role: rag.RoleAssistant, Text: "Let me look.", Calls: []rag.ToolCall{{ID: "c1", Name: "search", Arguments: json.RawMessage(`{"q":"ferry"}`)}}},
			{Role: rag.RoleTool, CallID: "c1", Text: "A ferry."},
		},
		Tools: []rag.ChatTool{{
			Name: "search", Description: "Finds passages.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`),
		}},
		Schema:    json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`),
		MaxTokens: 50,
	}
}

// Requests are what the services' own clients send for the same conversation.
func TestRequestsAreThoseOfOfficialClients(t *testing.T) {
	config := func(base, model string) llm.ServiceConfig {
		return llm.ServiceConfig{BaseURL: base, Model: model, APIKey: "sk-canary-1234567890", Tries: 1}
	}
	for name, open := range map[string]func(url string) (rag.ChatModel, error){
		"openai": func(url string) (rag.ChatModel, error) {
			return llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: config(url+"/v1/", "gpt-x")})
		},
		"azure": func(url string) (rag.ChatModel, error) {
			return llm.NewAzure(llm.AzureConfig{ServiceConfig: config(url, "gpt-x")})
		},
		"anthropic": func(url string) (rag.ChatModel, error) {
			return llm.NewAnthropic(llm.AnthropicConfig{ServiceConfig: config(url, "claude-x")})
		},
		"ollama": func(url string) (rag.ChatModel, error) {
			c := config(url, "llama-x")
			c.APIKey = ""
			return llm.NewOllama(llm.OllamaConfig{ServiceConfig: c})
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, seen := recorder(t)
			m, err := open(url)
			if err != nil {
				t.Fatal(err)
			}
			for range m.Chat(t.Context(), conversation()) { // an error: the recorder refuses
			}
			if len(*seen) != 1 {
				t.Fatalf("%d requests were sent", len(*seen))
			}
			want, got := official(t, name), (*seen)[0]
			for h := range got.Headers {
				if _, theirs := want.Headers[h]; !theirs {
					delete(got.Headers, h) // the recording holds those that matter
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-official client +ours):\n%s", diff)
			}
		})
	}
}

// field returns a field of a recorded body.
func (r request) field(name string) any {
	fields, _ := r.Body.(map[string]any)
	return fields[name]
}

// What a model refuses is left out, then and from then on.
func TestRefusedFieldsAreLearnt(t *testing.T) {
	const whole = "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	url, seen := recorder(t,
		`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`,
		`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","param":"temperature"}}`,
		`{"error":{"message":"This response_format type is unavailable now"}}`,
		whole, whole)
	m, err := llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: settings(url)})
	if err != nil {
		t.Fatal(err)
	}
	req := conversation()
	for range 2 {
		for _, err := range m.Chat(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(*seen) != 5 {
		t.Fatalf("%d requests, want 4 and then 1", len(*seen))
	}
	for i, r := range (*seen)[3:] {
		if r.field("max_tokens") != nil || r.field("max_completion_tokens") != 50.0 || r.field("temperature") != nil || r.field("response_format") != nil {
			t.Errorf("request %d still holds what was refused: %v", i+4, r.Body)
		}
		if system := r.field("messages").([]any)[0].(map[string]any)["content"].(string); !strings.HasPrefix(system, "Be short.") || !strings.Contains(system, string(req.Schema)) {
			t.Errorf("request %d does not ask for the schema in words: %q", i+4, system)
		}
	}
}

// An error that goes on is the error, and nothing is learnt from it.
func TestNothingIsLearntInVain(t *testing.T) {
	const no = `{"error":{"message":"temperature of the sun: forbidden words"}}`
	url, seen := recorder(t, no, no, no)
	m, err := llm.NewOpenAI(llm.OpenAIConfig{ServiceConfig: settings(url)})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for range 2 {
		for _, err := range m.Chat(t.Context(), conversation()) {
			last = err
		}
	}
	if len(*seen) != 4 || (*seen)[2].field("temperature") == nil || last == nil {
		t.Errorf("%d requests, the third with temperature %v, error %v", len(*seen), (*seen)[2].field("temperature"), last)
	}
}
