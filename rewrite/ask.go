package rewrite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// AskConfig bounds what a transformer asks a chat model.
type AskConfig struct {
	Tries     int `json:"tries,omitzero" range:"[1,1000]"`          // for a reply that cannot be read; 0: 2; at least 0
	TimeoutMS int `json:"timeout_ms,omitzero" range:"[1,86400000]"` // longest that all tries of a question take; 0: 8,000, which is within the engine's retrieval.rewrite_timeout_ms; at least 0

	Now func() time.Time `json:"-"` // nil: time.Now
}

func (c *AskConfig) fillDefaults() error {
	if c.Tries < 0 || c.TimeoutMS < 0 {
		return fmt.Errorf("tries and timeout_ms must not be below 0: %w", rag.ErrInvalid)
	}
	if c.Tries == 0 {
		c.Tries = 2
	}
	if c.TimeoutMS == 0 {
		c.TimeoutMS = 8000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// A model that is down would cost each search its time limit: after mostFailures failed questions in a row it is not
// asked for a while.
const (
	mostFailures = 5
	restAfter    = time.Minute
)

// asker asks a chat model the questions of one transformer. It remembers replies.
type asker struct {
	method string
	task   string          // what the model is told to do
	schema json.RawMessage // of its reply
	model  rag.ChatModel
	c      AskConfig

	mu      sync.Mutex
	replies memory
	failed  int       // questions in a row
	resume  time.Time // not asked before
}

// newAsker returns the asker of a transformer. Without a model, and with wrong settings, it is ErrInvalid.
func newAsker(method, task string, schema json.RawMessage, model rag.ChatModel, c AskConfig) (*asker, error) {
	if model == nil {
		return nil, fmt.Errorf("%s: it needs a chat model: configure llm, or leave %s out of query_transforms: %w", method, method, rag.ErrInvalid)
	}
	if err := c.fillDefaults(); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return &asker{method: method, task: task + prompt.Guard, schema: schema, model: model, c: c}, nil
}

// asked is what a question cost. It stands in traces.
type asked struct {
	calls  int
	cached bool
}

func (a asked) detail() map[string]any { return map[string]any{"calls": a.calls, "cached": a.cached} }

// ask puts a text to the model and has the reply read; read may be called several times. An error is the context's, or
// says why there is no answer.
func (a *asker) ask(ctx context.Context, text string, read func(reply string) error) (asked, error) {
	var did asked
	if err := ctx.Err(); err != nil {
		return did, err
	}
	if reply, ok := a.remembered(text); ok && read(reply) == nil {
		return asked{cached: true}, nil
	}
	if err := a.resting(); err != nil {
		return did, err
	}
	limit := time.Duration(a.c.TimeoutMS) * time.Millisecond
	within, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no reply within %s (timeout_ms): %w", limit, rag.ErrUnavailable))
	defer cancel()
	var err error
	for did.calls < a.c.Tries {
		did.calls++
		var reply string
		if reply, err = a.reply(within, text); err != nil { // the model's own client has tried again where that helps
			break
		}
		if err = read(reply); err == nil {
			a.remember(text, reply)
			return did, nil
		}
	}
	if ctx.Err() != nil { // whoever asks has lost interest: that says nothing of the model
		return did, ctx.Err()
	}
	a.noteFailure()
	return did, err
}

// maxReply bounds what is read of a reply: what is asked for is short.
const maxReply = 16 << 10

// reply returns a whole reply.
func (a *asker) reply(ctx context.Context, text string) (string, error) {
	req := rag.ChatRequest{
		Messages: []rag.ChatMessage{{Role: rag.RoleSystem, Text: a.task}, {Role: rag.RoleUser, Text: text}},
		Schema:   a.schema,
	}
	reply, err := rag.Reply(ctx, a.model, req, maxReply)
	return reply.Text, err
}

func (a *asker) remembered(text string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.replies.get(text)
}

// remember keeps a reply that could be read: the model is well.
func (a *asker) remember(text, reply string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replies.put(text, reply)
	a.failed = 0
}

func (a *asker) noteFailure() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed++; a.failed >= mostFailures {
		a.resume = a.c.Now().Add(restAfter)
	}
}

// resting says that the model is not asked for now. Once the rest is over one question tells whether it is well again.
func (a *asker) resting() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed >= mostFailures && a.c.Now().Before(a.resume) {
		return fmt.Errorf("the chat model failed %d times in a row and is not asked for %s: %w", mostFailures, restAfter, rag.ErrUnavailable)
	}
	return nil
}

// rememberedReplies is how many replies a transformer remembers: at about 2 KB each, two megabytes.
const rememberedReplies = 1000

// memory remembers replies by the text that was asked, the oldest of them the shortest.
type memory struct {
	replies map[string]string
	order   []string // of the texts, the oldest first
}

func (m *memory) get(text string) (string, bool) {
	reply, ok := m.replies[text]
	return reply, ok
}

func (m *memory) put(text, reply string) {
	if m.replies == nil {
		m.replies = map[string]string{}
	}
	if _, known := m.replies[text]; !known {
		if len(m.order) == rememberedReplies {
			delete(m.replies, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, text)
	}
	m.replies[text] = reply
}

// oneLine returns text of a model on one line, at most so many bytes long.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, " ")), " ")
	if len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most], "")) // no half of a character
	}
	return text
}
