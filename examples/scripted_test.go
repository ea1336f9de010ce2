package examples_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// scripted is a service in the test's process that speaks as OpenAI, Azure, DeepSeek and Ollama do: chat by a script, also
// about pictures, and embeddings by hashes of words.
type scripted struct {
	URL string

	mu     sync.Mutex
	script func(asked) (reply string, status int) // status 0: the reply, not looked at for embeddings; hang: none until the caller goes
	asked  []asked
}

// hang is the status of a reply that never comes.
const hang = -1

// asked is a request.
type asked struct {
	Path     string
	Key      string // as the service's protocol sends it
	Model    string
	Task     string   // system message
	Text     string   // last message
	Pictures []string // in the form of the service
	Input    []string // texts to embed

	Temperature *float64
	MaxTokens   int
}

// newScripted starts the service with a script.
func newScripted(t *testing.T, script func(asked) (string, int)) *scripted {
	t.Helper()
	s := &scripted{script: script}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// play replaces the script and forgets what was asked.
func (s *scripted) play(script func(asked) (string, int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.asked = script, nil
}

// requests are those whose path ends so.
func (s *scripted) requests(path string) []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []asked
	for _, a := range s.asked {
		if strings.HasSuffix(a.Path, path) {
			list = append(list, a)
		}
	}
	return list
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
			Images  []string // Ollama
		}
		Input       []string
		Model       string
		Temperature *float64
		MaxTokens   int `json:"max_tokens"`
		Completion  int `json:"max_completion_tokens"` // the same, as newer models call it
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := asked{
		Path: r.URL.Path, Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("api-key"),
		Model: body.Model, Input: body.Input, Temperature: body.Temperature, MaxTokens: max(body.MaxTokens, body.Completion),
	}
	for _, m := range body.Messages {
		text, pictures := contentOf(m.Content)
		a.Pictures = append(append(a.Pictures, pictures...), m.Images...)
		if a.Text = text; m.Role == "system" {
			a.Task = text
		}
	}
	s.mu.Lock()
	s.asked = append(s.asked, a)
	script := s.script
	s.mu.Unlock()
	reply, status := script(a)
	switch {
	case status == hang:
		<-r.Context().Done()
	case status != 0:
		http.Error(w, `{"error":{"message":"out of order"}}`, status)
	case len(a.Input) > 0:
		embeddings(w, r, a.Input)
	case strings.HasSuffix(r.URL.Path, "/api/chat"):
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n", quoted(reply))
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", quoted(reply))
	}
}

// contentOf reads a message: a text, or parts of text and pictures.
func contentOf(raw json.RawMessage) (text string, pictures []string) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text  string
		Image struct{ URL string } `json:"image_url"`
	}
	_ = json.Unmarshal(raw, &parts) // none: an empty message
	for _, p := range parts {
		text += p.Text
		if p.Image.URL != "" {
			pictures = append(pictures, p.Image.URL)
		}
	}
	return text, pictures
}

// embeddings answers in the form of OpenAI, or of Ollama at its path.
func embeddings(w http.ResponseWriter, r *http.Request, texts []string) {
	vectors, err := (&ragtest.HashEmbedder{}).Embed(r.Context(), rag.AsPassage, texts)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/api/embed") {
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
		return
	}
	var data []map[string]any
	for i, v := range vectors {
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a text can be JSON
	return string(b)
}
