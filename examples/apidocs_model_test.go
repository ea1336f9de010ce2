package examples_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// docsModel is a chat model behind the protocol of OpenAI, with tools; it plays what a test says, and keeps what it was asked.
type docsModel struct {
	URL  string
	mu   sync.Mutex
	play func(docsRequest) docsReply
	kept []docsRequest
}

type docsRequest struct {
	Messages []struct {
		Role, Content string
	}
	Tools       []json.RawMessage
	Temperature *float64
}

// system is the task that the model is given.
func (r *docsRequest) system() string { return r.Messages[0].Content }

// last is what the model is told last.
func (r *docsRequest) last() string { return r.Messages[len(r.Messages)-1].Content }

// docsReply is a text, or a call of a tool.
type docsReply struct{ text, tool, arguments string }

// What the models of an answer, of the agent and of the verifier are told, so that they can be told apart.
const (
	answerTask = "You answer questions from numbered sources"
	agentTask  = "You answer questions from a collection"
	verifyTask = "You check citations"
)

func newDocsModel(t *testing.T) *docsModel {
	t.Helper()
	m := &docsModel{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

func (m *docsModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req docsRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.kept = append(m.kept, req)
	reply := m.play(req)
	m.mu.Unlock()
	delta, stop := map[string]any{"content": reply.text}, "stop"
	if reply.tool != "" {
		call := map[string]any{"index": 0, "id": "c", "type": "function", "function": map[string]any{"name": reply.tool, "arguments": reply.arguments}}
		delta, stop = map[string]any{"tool_calls": []any{call}}, "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": stop}} {
		data, _ := json.Marshal(map[string]any{"choices": []any{choice}}) // plain data
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// plays sets what the model answers, by its task, and forgets what it was asked.
func (m *docsModel) plays(byTask map[string]func(n int, r docsRequest) docsReply) {
	seen := map[string]int{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = nil
	m.play = func(r docsRequest) docsReply {
		for task, reply := range byTask {
			if strings.HasPrefix(r.system(), task) {
				seen[task]++
				return reply(seen[task], r)
			}
		}
		return docsReply{text: `{"intent": "search", "confidence": 0.9}`} // the router
	}
}

// asked returns the requests of a task.
func (m *docsModel) asked(task string) (list []docsRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.kept {
		if strings.HasPrefix(r.system(), task) {
			list = append(list, r)
		}
	}
	return list
}
