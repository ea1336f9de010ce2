// Package agent decides what is to be done with a question, and has a chat model search by itself until it can answer.
//
//	a, err := agent.New(engine, agent.Config{})
//	answer, err := a.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "how do the fees of 2025 and 2026 differ?"}})
//	answer, err = a.AskAgent(ctx, rag.AskRequest{Query: rag.Query{Text: "may contractors work in the laboratory?"}})
//
// Ask routes: small talk is answered without a search, a question that names where to look is searched there, the sides of a
// comparison are searched one by one. AskAgent gives the model tools, has each citation of its answer verified and sends what
// has no support back; what stays without it is marked. [Sessions] remember conversations.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// Agent answers questions with an engine. Make one with [New]; it is safe for concurrent use.
type Agent struct {
	engine *rag.Engine
	router *Router
	config Config

	vocabulary vocabularyCache
}

// Stages of an agent, in Span.Stage and AnswerEvent.Stage. Its tools are stages too.
const (
	stageRoute  = "routing"
	stageChat   = "chat"
	stageAgent  = "agent"
	stageThink  = "think"
	stageVerify = "verify"
)

// New returns an agent over an engine. Settings that cannot be right are ErrInvalid.
func New(engine *rag.Engine, c Config) (*Agent, error) {
	if engine == nil {
		return nil, fmt.Errorf("agent: it needs an engine: %w", rag.ErrInvalid)
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	if c.Model == nil {
		c.Model = engine.ChatModel()
	}
	if c.Verifier == nil {
		c.Verifier = engine.Verifier()
	}
	labels, err := c.labelSet()
	if err != nil {
		return nil, err
	}
	router, err := NewRouter(labels, c.Model)
	if err != nil {
		return nil, err
	}
	return &Agent{engine: engine, router: router, config: c}, nil
}

// Route decides what is to be done with a question to a collection; "" is the configured one.
func (a *Agent) Route(ctx context.Context, question, collection string) (Decision, error) {
	if d, ok := a.router.talk(readText(question)); ok {
		return d, nil // whatever the collection has, or none
	}
	fields, err := a.fields(ctx, collection)
	if err != nil {
		return Decision{}, err
	}
	return a.router.Route(ctx, question, fields)
}

// Ask routes a question and does what the route says. Answer.Intent names the label. The errors are those of
// [rag.Engine.Ask].
func (a *Agent) Ask(ctx context.Context, req rag.AskRequest) (*rag.Answer, error) {
	return last(a.AskStream(ctx, req))
}

// AskStream is [Agent.Ask] with what happens on the way.
func (a *Agent) AskStream(ctx context.Context, req rag.AskRequest) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		if err := readable(&req); err != nil {
			yield(rag.AnswerEvent{}, err)
			return
		}
		if !yield(rag.AnswerEvent{Stage: stageRoute}, nil) {
			return
		}
		start := a.config.Now()
		d, err := a.Route(ctx, question(&req), req.Query.Collection)
		if err != nil {
			yield(rag.AnswerEvent{}, err)
			return
		}
		routed := rag.Timing{Stage: stageRoute, MS: milliseconds(a.config.Now().Sub(start))}
		for event, err := range a.Follow(ctx, req, d) {
			if event.Answer != nil {
				event.Answer.Timings = slices.Insert(event.Answer.Timings, 0, routed)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// AskAgent has the chat model search by itself; see [Config] for what it may use up. Small talk and what the labels refuse
// are answered as by [Agent.Ask]. Without a chat model, and where it fails, the answer is extractive and Notes says so. An
// agent that comes to no answer refuses, with the reason and what it found.
func (a *Agent) AskAgent(ctx context.Context, req rag.AskRequest) (*rag.Answer, error) {
	return last(a.AskAgentStream(ctx, req))
}

// AskAgentStream is [Agent.AskAgent] with what happens on the way. The text comes when it has been verified.
func (a *Agent) AskAgentStream(ctx context.Context, req rag.AskRequest) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		if err := readable(&req); err != nil {
			yield(rag.AnswerEvent{}, err)
			return
		}
		t := readText(question(&req))
		d, talk := a.router.talk(t)
		events := a.Follow(ctx, req, d)
		if !talk {
			d = a.router.byRules(t, nil) // the model reads by itself where to look
			events = a.investigate(ctx, narrow(req, d), d)
		}
		for event, err := range events {
			if !yield(event, err) {
				return
			}
		}
	}
}

// question is what is to be answered.
func question(req *rag.AskRequest) string { return cmp.Or(req.Question, req.Query.Text) }

// readable reports a question that is no text: it would be read, and perhaps answered, as another.
func readable(req *rag.AskRequest) error {
	if !utf8.ValidString(question(req)) {
		return fmt.Errorf("the question is not UTF-8: %w", rag.ErrInvalid)
	}
	return nil
}

// last returns the answer at the end of a stream.
func last(events iter.Seq2[rag.AnswerEvent, error]) (*rag.Answer, error) {
	var answer *rag.Answer
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		answer = cmp.Or(event.Answer, answer)
	}
	return answer, nil
}

// investigate runs the agent. What goes wrong with the model leaves an answer in sentences of the sources.
func (a *Agent) investigate(ctx context.Context, req rag.AskRequest, d Decision) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		var err error
		if req.Query, err = a.engine.Ruled(ctx, req.Query); err != nil { // the tools must not show what a search would not
			yield(rag.AnswerEvent{}, err)
			return
		}
		r := a.newRun(req, d)
		broken := false
		r.began = func(stage string) bool {
			broken = broken || !yield(rag.AnswerEvent{Stage: stage}, nil)
			return !broken
		}
		err = errNoModel
		if a.config.Model != nil && !req.Extractive {
			r.start(req.Turns)
			err = r.research(ctx)
		}
		switch {
		case broken:
			return
		case ctx.Err() != nil:
			yield(rag.AnswerEvent{}, ctx.Err())
			return
		case errors.Is(err, errIterations), errors.Is(err, errTokens), errors.Is(err, errTime):
			r.stop(err)
		case err != nil && len(r.answer.Citations) == 0:
			r.fall(ctx, req, err, yield)
			return
		}
		r.answer.Timings = append(r.answer.Timings, rag.Timing{Stage: stageAgent, MS: milliseconds(a.config.Now().Sub(r.started))})
		a.record(ctx, r.answer, r.started)
		if yield(rag.AnswerEvent{Text: r.answer.Text}, nil) {
			yield(rag.AnswerEvent{Answer: r.answer}, nil)
		}
	}
}

// errNoModel is why an agent without a chat model only finds sentences.
var errNoModel = errors.New("there is no chat model")

func (a *Agent) newRun(req rag.AskRequest, d Decision) *run {
	q := req.Query
	q.Also, q.Turns, q.AsIs = nil, nil, true // the model writes its own searches
	if q.TopK == 0 {
		q.TopK = a.config.TopK
	}
	return &run{
		Agent: a, started: a.config.Now(), query: q, question: question(&req), table: newTable(), searched: map[string][]int{},
		answer: &rag.Answer{Question: question(&req), Collection: cmp.Or(q.Collection, a.engine.Config().Collection), Intent: d.Intent, Mode: rag.AnswerAgent},
	}
}

// stop ends a run that may not go on. An answer that it came to before stands, marked as it is.
func (r *run) stop(why error) {
	if r.answer.Text == "" {
		r.refuse(why.Error())
	}
}

// fall answers without the model: from what it found before it failed, else from a search for the question.
func (r *run) fall(ctx context.Context, req rag.AskRequest, why error, yield func(rag.AnswerEvent, error) bool) {
	req.Intent = r.answer.Intent
	if len(r.table.sources) > 0 {
		found := &rag.Result{Query: r.question, Collection: r.answer.Collection}
		for _, s := range r.table.sources {
			found.Hits = append(found.Hits, s.Hit)
		}
		req.Found = found
	}
	wanted := req.Extractive
	req.Extractive = true
	for event, err := range r.engine.AskStream(ctx, req) {
		if event.Answer != nil && !wanted {
			event.Answer.Notes = append(event.Answer.Notes, rag.Note{Stage: stageAgent, Reason: "the answer is in sentences of the sources: " + r.engine.HideSecrets(why.Error())})
		}
		if event.Answer != nil {
			event.Answer.Steps = r.answer.Steps
			event.Answer.Usage.Add(r.answer.Usage)
		}
		if !yield(event, err) {
			return
		}
	}
}

// record writes a trace of an agent's steps. Each of its searches has a trace of its own.
func (a *Agent) record(ctx context.Context, answer *rag.Answer, start time.Time) {
	t := &rag.Trace{Type: rag.TraceAgent, Timestamp: start, Collection: answer.Collection, UserQuery: answer.Question, Notes: answer.Notes, Answer: answer.Outcome(),
		TotalMS: milliseconds(a.config.Now().Sub(start))}
	for _, s := range answer.Steps {
		t.Stages = append(t.Stages, rag.Span{Stage: s.Action, StartMS: s.StartMS, EndMS: min(s.StartMS+s.MS, t.TotalMS), ElapsedMS: s.MS, Detail: map[string]any{"arguments": s.Arguments, "observation": s.Observation}})
	}
	answer.TraceID = a.engine.Record(ctx, t)
}

// speak returns what is said in the language of a question.
func speak(question string) phrases {
	if p, ok := spoken[lang.Detect(question)]; ok {
		return p
	}
	return spoken["en"]
}
