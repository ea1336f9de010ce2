package transform

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// LLMConfig bounds the questions of a step to a chat model.
type LLMConfig struct {
	MaxCalls  int `json:"max_llm_calls,omitzero" range:"[-1,1000000000] but 0"` // in one ingest; what is left over is done by the next; 0: 1,000; below 0: no limit
	Parallel  int `json:"parallel,omitzero" range:"[1,10000]"`                  // questions at once; 0: 4
	Tries     int `json:"tries,omitzero" range:"[1,1000]"`                      // for a reply that cannot be read; 0: 2
	TimeoutMS int `json:"timeout_ms,omitzero" range:"[1,86400000]"`             // longest that one reply may take; 0: 60,000

	Replies *Replies `json:"-"` // where replies are kept; nil: in memory, as long as the transformer lives
}

func (c *LLMConfig) fillDefaults() error {
	if c.Parallel < 0 || c.Tries < 0 || c.TimeoutMS < 0 {
		return fmt.Errorf("parallel, tries and timeout_ms must not be below 0: %w", rag.ErrInvalid)
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&c.MaxCalls, 1000}, {&c.Parallel, 4}, {&c.Tries, 2}, {&c.TimeoutMS, 60_000}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Replies == nil {
		c.Replies = NewReplies("")
	}
	return nil
}

// asker asks a chat model the questions of one step.
type asker struct {
	step  string // "enrich"
	model rag.ChatModel
	name  string // of step, prompt and model: what replies are kept under, and a part of the fingerprint
	c     LLMConfig
	slots chan struct{} // one for each question under way
}

// newAsker returns the asker of a step. The task that it sets is a part of its name as a digest, so that no change of a
// prompt can be forgotten.
func newAsker(step, task string, model rag.ChatModel, c LLMConfig) (*asker, error) {
	if model == nil {
		return nil, fmt.Errorf("%s: mode llm needs a chat model: configure llm: %w", step, rag.ErrInvalid)
	}
	if err := c.fillDefaults(); err != nil {
		return nil, fmt.Errorf("%s: %w", step, err)
	}
	prompt := sha256.Sum256([]byte(task))
	name := fmt.Sprintf("%s/llm/%x/%s", step, prompt[:4], modelName(model))
	return &asker{step, model, name, c, make(chan struct{}, c.Parallel)}, nil
}

// modelName is what a chat model says of itself, or its type.
func modelName(m rag.ChatModel) string {
	if f, ok := m.(rag.Fingerprinter); ok {
		return f.Fingerprint()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*")
}

// ask puts a question and has the reply read. about names the question beside its text: a reply is kept under both. An
// error is the context's, or says why there is no answer; then fellBack counts it.
func (a *asker) ask(ctx context.Context, about string, req rag.ChatRequest, read func(reply string) error) error {
	steps := rag.StepsOf(ctx)
	key := replyKey(a.name, about, req)
	end, err := a.c.Replies.turn(ctx, key)
	if err != nil {
		return err
	}
	defer end()
	if reply, ok := a.c.Replies.get(key); ok && read(reply) == nil {
		steps.Count(rag.StepCount{Step: a.step, Cached: 1})
		return nil
	}
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for range a.c.Tries {
		if err := steps.Spend(a.step, a.c.MaxCalls); err != nil {
			return err
		}
		var reply string
		reply, err = a.reply(ctx, req)
		steps.Answered(a.step, err == nil)
		if err != nil { // the model's own client has tried again where that helps
			return err
		}
		if err = read(reply); err == nil {
			a.c.Replies.put(key, reply)
			return nil
		}
	}
	return err
}

// maxReply bounds what is read of a reply: what is asked for is short.
const maxReply = 64 << 10

// reply returns a whole reply.
func (a *asker) reply(ctx context.Context, req rag.ChatRequest) (string, error) {
	limit := time.Duration(a.c.TimeoutMS) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no reply within %s (timeout_ms): %w", limit, rag.ErrUnavailable))
	defer cancel()
	reply, err := rag.Reply(ctx, a.model, req, maxReply)
	return reply.Text, err
}

// fellBack counts a question without an answer.
func (a *asker) fellBack(ctx context.Context, err error) {
	rag.StepsOf(ctx).Count(rag.StepCount{Step: a.step, Fallbacks: 1, Reason: err.Error()})
}

// each calls do for 0 to n-1, several at once, and returns when all have. It asks no further once the context is done,
// and returns its error.
func (a *asker) each(ctx context.Context, n int, do func(i int)) error {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(a.c.Parallel, n) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	return ctx.Err()
}

// question is a request of two messages for a JSON object.
func question(task, text string, schema json.RawMessage) rag.ChatRequest {
	return rag.ChatRequest{
		Messages: []rag.ChatMessage{{Role: rag.RoleSystem, Text: task}, {Role: rag.RoleUser, Text: text}},
		Schema:   schema,
	}
}

// oneLine returns text of a model on one line, at most so many bytes long.
func oneLine(text string, most int) string {
	return cut(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "), most)
}
