package rag

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// AskRequest is a question to be answered. Only Query.Text must be given.
type AskRequest struct {
	Query         Query         // the question, and where and how passages for it are looked for
	Question      string        // as it is to be answered and shown; "" means Query.Text, which may be a rewritten one
	Turns         []ChatMessage // the conversation before the question, oldest first
	Extractive    bool          // answer with sentences of the sources, also if there is a chat model
	ContextTokens int           // most tokens of passages that the chat model is shown; 0 means Config.Answer.ContextTokens
	Intent        string        // what a router made of the question; it is passed on to the answer
	Found         *Result       // a search that was made already; nil: Ask searches for Query
}

// AnswerEvent is something that happens while an answer is made. Exactly one of the fields is set.
type AnswerEvent struct {
	// Stage begins. After StageExtract the text begins anew: the chat model did not come to an end.
	Stage  string
	Text   string  // the next piece of the answer's text; put together they are Answer.Text
	Answer *Answer // the answer, whole: the last event
}

// Ask answers a question from the passages that a search finds: with the chat model, or without one in sentences of the
// sources. Every statement carries the number of its source. Where the evidence is too weak the answer is a refusal, and
// where a chat model fails the answer is extractive and Notes says so: neither is an error.
//
// Errors are those of [Engine.Search], and ErrInvalid for a negative ContextTokens.
func (e *Engine) Ask(ctx context.Context, req AskRequest) (_ *Answer, err error) {
	defer e.hide(&err)
	a := e.newAnswering(req, func(AnswerEvent) bool { return true })
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return a.answer, nil
}

// AskStream is [Engine.Ask] with what happens on the way. An error ends the sequence; breaking out ends the work.
func (e *Engine) AskStream(ctx context.Context, req AskRequest) iter.Seq2[AnswerEvent, error] {
	return func(yield func(AnswerEvent, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		broken := false
		a := e.newAnswering(req, func(event AnswerEvent) bool {
			broken = broken || !yield(event, nil)
			if broken {
				cancel()
			}
			return !broken
		})
		err := a.run(ctx)
		switch {
		case broken:
		case err != nil:
			a.hide(&err)
			yield(AnswerEvent{}, err)
		default:
			yield(AnswerEvent{Answer: a.answer}, nil)
		}
	}
}

// answering is the state of one Ask call.
type answering struct {
	*Engine
	req      AskRequest
	yield    func(AnswerEvent) bool
	started  time.Time
	search   *search // nil: the hits were given
	found    *Result
	language string // of the question; "" if it cannot be told
	answer   *Answer
	evidence evidence
	texts    []string // of the sources as they were read: what their citations are checked against
	spans    map[string]*Span
}

// answerStages are the stages of an answer behind those of the search, in order.
var answerStages = []string{StageEvidence, StagePack, StageGenerate, StageExtract, StageCite, StageVerify}

func (e *Engine) newAnswering(req AskRequest, yield func(AnswerEvent) bool) *answering {
	if req.Question == "" {
		req.Question = req.Query.Text
	}
	a := &answering{Engine: e, req: req, yield: yield, started: e.now(), spans: map[string]*Span{}}
	for _, stage := range answerStages {
		a.spans[stage] = &Span{Stage: stage, Method: e.methods[stage], Status: SpanOff}
	}
	a.answer = &Answer{Question: req.Question, Collection: e.collection(req.Query.Collection), Intent: req.Intent}
	a.language = lang.Detect(req.Question)
	return a
}

// run answers and records it.
func (a *answering) run(ctx context.Context) error {
	err := a.do(ctx)
	if err == nil {
		err = ctx.Err() // what was made after the caller left is no answer
	}
	a.record(ctx, a.trace(err))
	return err
}

// do is the spine of an answer.
func (a *answering) do(ctx context.Context) error {
	if a.req.ContextTokens < 0 {
		return fmt.Errorf("ask: context_tokens is %d: it must not be negative: %w", a.req.ContextTokens, ErrInvalid)
	}
	if err := a.find(ctx); err != nil {
		return err
	}
	if err := a.weighEvidence(ctx); err != nil {
		return err
	}
	if reason := a.refusal(); reason != "" {
		a.refuse(reason)
		return nil
	}
	if a.chat == nil || a.req.Extractive {
		return a.extract(ctx)
	}
	all := a.answer.Sources
	text, err := a.generate(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.answer.Sources = all // also those that the model's budget had no room for
		a.note(StageGenerate, SpanFailed, "the answer is in sentences of the sources: "+err.Error())
		return a.extract(ctx)
	}
	a.answer.Mode, a.answer.Text = AnswerGenerated, text
	if a.declined() {
		return nil
	}
	a.cite()
	a.verify(ctx)
	a.judge()
	return nil
}

// asked is the question in words that stand for themselves: of a follow-up, what the search made of it.
func (a *answering) asked() string {
	for _, r := range slices.Backward(a.found.Rewrites) {
		if r.Text != r.Original {
			return r.Text
		}
	}
	return a.req.Question
}

// find searches, unless that was done, and numbers the passages that the answer will be made from.
func (a *answering) find(ctx context.Context) error {
	if a.found = a.req.Found; a.found == nil {
		a.yield(AnswerEvent{Stage: StageQuery})
		start := a.now()
		a.search = newSearch(a.Engine, a.req.Query)
		a.search.started = a.started // one trace has both
		a.found = a.search.result
		a.answer.TraceID = a.search.id
		err := a.search.do(ctx)
		a.took("search", start)
		if err != nil {
			return err
		}
		a.req.Query.AsOf = a.search.q.AsOf // which the collection's domain may have set
	} else if strings.TrimSpace(a.req.Question) == "" {
		return fmt.Errorf("ask: the question is empty: %w", ErrInvalid)
	} else {
		a.answer.TraceID = newTraceID()
	}
	a.answer.Notes = append(a.answer.Notes, a.found.Notes...)
	for i, h := range a.found.Hits[:min(len(a.found.Hits), a.config.Answer.Passages)] {
		a.answer.Sources = append(a.answer.Sources, AnswerSource{i + 1, h})
		a.texts = append(a.texts, h.Chunk.IndexText())
	}
	return nil
}

// begin starts a stage.
func (a *answering) begin(stage string) (*Span, time.Time) {
	a.yield(AnswerEvent{Stage: stage})
	span := a.spans[stage]
	span.Status, span.Detail = "", map[string]any{}
	return span, a.now()
}

// end notes how long a stage took.
func (a *answering) end(span *Span, start time.Time) {
	now := a.now()
	span.ElapsedMS += milliseconds(now.Sub(start))
	span.ran(milliseconds(start.Sub(a.started)), milliseconds(now.Sub(a.started)))
	a.took(span.Stage, start)
}

func (a *answering) took(stage string, start time.Time) {
	a.answer.Timings = append(a.answer.Timings, Timing{stage, milliseconds(a.now().Sub(start))})
}

// note says in answer and trace that a stage did less than was asked.
func (a *answering) note(stage, status, reason string) {
	reason = a.HideSecrets(reason)
	span := a.spans[stage]
	if span.Status = status; span.Detail == nil {
		span.Detail = map[string]any{}
	}
	span.Detail["reason"] = reason
	a.answer.Notes = append(a.answer.Notes, Note{stage, reason})
}

// trace is that of the search with the stages of the answer.
func (a *answering) trace(err error) *Trace {
	s := a.search
	if s == nil {
		q := a.req.Query
		q.Text = a.req.Question
		s = newSearch(a.Engine, q)
		s.id, s.started, s.result = a.answer.TraceID, a.started, a.found
		if s.result == nil {
			s.result = &Result{}
		}
		s.spans[StageQuery].Detail = map[string]any{"search": s.result.TraceID}
	}
	t := s.trace(err)
	t.Type, t.Notes = TraceAsk, a.answer.Notes
	if err == nil {
		t.Answer = a.answer.Outcome()
	}
	for _, stage := range answerStages {
		t.Stages = append(t.Stages, *a.spans[stage])
	}
	t.TotalMS = milliseconds(a.now().Sub(a.started))
	return t
}

// declined turns a reply that says that the sources hold no answer into a refusal, in whatever language the model says it.
// What it says besides stands, unless that cites a source: then it is an answer. A citation of the refusal itself, which no
// source says, does not count.
func (a *answering) declined() bool {
	const around = " \n.。!！*_\"“”"
	text := strings.ReplaceAll(a.answer.Text, "’", "'")
	cited := len(cite.Markers(text)) > 0
	if cited {
		text = cite.Strip(text)
	}
	sentences := cite.Sentences(text)
	if len(sentences) == 0 || cited && len(sentences) > 1 {
		return false
	}
	first := strings.Trim(text[sentences[0].Start:sentences[0].End], around)
	for _, phrase := range refusalPhrases {
		if strings.EqualFold(first, strings.Trim(phrase, around)) {
			a.decline("the chat model found no answer in the sources")
			return true
		}
	}
	return false
}

// refuse answers that there is no answer.
func (a *answering) refuse(reason string) {
	a.answer.Mode, a.answer.Text = AnswerExtractive, a.phrase()
	a.decline(reason)
	a.yield(AnswerEvent{Text: a.answer.Text})
}

func (a *answering) decline(reason string) {
	a.answer.Refused, a.answer.Reliability, a.answer.Reason = true, NoAnswer, reason
}

// judge says how far the answer can be relied on: what its evidence is, whether its citations hold, and, apart from that,
// whether its sources are known to be in force.
func (a *answering) judge() {
	ans := a.answer
	cut := a.spans[StageGenerate].Detail["stop"] == StopLength || a.spans[StageGenerate].Detail["stop"] == StopFilter
	unsupported := 0
	for _, c := range ans.Citations {
		if c.Verdict == VerdictUnsupported {
			unsupported++
		}
		if s := ans.Sources[c.Marker-1].Hit.Status; s != "" && s != StatusCurrent {
			ans.NeedsReview = true
		}
	}
	ans.Reliability = ToVerify
	switch {
	case len(ans.Citations) == 0:
		ans.Reason = "the answer names no source"
	case unsupported > 0:
		ans.Reason = fmt.Sprintf("%s what is said", count(unsupported, "citation does not support", "citations do not support"))
	case cut:
		ans.Reason = "the answer is cut off"
	case len(a.evidence.unnamed) > 0:
		ans.Reason = "no passage names " + strings.Join(a.evidence.unnamed, ", ")
	case ans.Mode == AnswerExtractive && a.evidence.quoted < leastQuoted:
		ans.Reason = "the sentence quoted first has little of what is asked"
	case ans.Confidence < a.config.Answer.ReliableFrom:
		low, least := distinct(ans.Confidence, a.config.Answer.ReliableFrom)
		ans.Reason = fmt.Sprintf("the evidence is weak: confidence %s of %s", low, least)
	default:
		ans.Reliability = Reliable
	}
}

// buildAnswers makes the verifier and reads the prompts; the chat model is there already.
func (e *Engine) buildAnswers(s *settings, env Env) (err error) {
	if e.chat != nil {
		e.methods[StageGenerate] = e.methods["llm"]
	}
	if e.prompts, err = readPrompts(&s.config.Answer); err != nil {
		return err
	}
	c, verifiers := s.config.Verifier, &s.providers.Verifiers
	isDefault := c.Provider == DefaultConfig().Verifier.Provider && len(c.Settings) == 0
	if s.verifier == nil && (c.Provider == None || isDefault && len(verifiers.Names()) == 0) {
		return nil // a program that links none goes without
	}
	e.verifier, err = provide(e, "verifier", StageVerify, s.verifier, c, verifiers, env)
	return err
}
