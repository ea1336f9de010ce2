package otel

import (
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-d8745b77/rag"
)

// node is a span to be: what a tracer is told of it, and the metrics.
type node struct {
	name       string
	kind       trace.SpanKind
	start, end time.Time
	attrs      []attribute.KeyValue
	events     []event
	failure    string // error.type; "": it did not fail
	message    string // of the error; "" unless Content
	children   []*node

	operation  string               // gen_ai.operation.name; "": none
	labels     []attribute.KeyValue // of the operation's metrics
	tokens     map[string]int64     // by gen_ai.token.type
	firstChunk float64              // seconds until a chat model wrote something; 0: not known
}

// event is something that a span tells of its end.
type event struct {
	name  string
	attrs []attribute.KeyValue
}

// root makes the tree of a trace.
func (s *Sink) root(t *rag.Trace) *node {
	times := layout(t)
	n := &node{start: t.Timestamp, end: t.Timestamp.Add(milliseconds(t.TotalMS)), kind: trace.SpanKindInternal, name: t.Type + " " + t.Collection}
	if t.Error != "" {
		n.failure = failureOf(t.ErrorKind)
		n.message = s.text(t.Error)
	}
	switch t.Type {
	case rag.TraceQuery:
		s.retrieval(n, t, times)
	case rag.TraceAsk:
		s.answer(n, t, times)
	case rag.TraceAgent:
		s.agent(n, t, times)
	default:
		s.stages(n, t.Stages, times)
	}
	if s.config.Content && len(t.SourcePath) > 0 {
		n.attrs = append(n.attrs, keySources.StringSlice(t.SourcePath))
	}
	n.attrs = append(n.attrs, keyTrace.String(t.ID), keyRAG.String(t.Type), keyCollection.String(t.Collection))
	n.attrs = append(n.attrs, s.extra...)
	for _, note := range t.Notes {
		e := event{eventNote, []attribute.KeyValue{keyStage.String(note.Stage)}}
		if s.config.Content {
			e.attrs = append(e.attrs, keyReason.String(note.Reason))
		}
		n.events = append(n.events, e)
	}
	return n
}

// searchStages are those that belong to the retrieval; in an answer others follow.
var searchStages = []string{rag.StageQuery, rag.StageDense, rag.StageSparse, rag.StageFusion, rag.StageRerank, rag.StageShape}

// retrieval makes a node that of a search.
func (s *Sink) retrieval(n *node, t *rag.Trace, times []interval) {
	n.name = opRetrieval + " " + t.Collection
	n.operation, n.labels = opRetrieval, []attribute.KeyValue{keyOperation.String(opRetrieval), keyDataSource.String(t.Collection)}
	n.attrs = append(n.attrs, n.labels...)
	n.attrs = append(n.attrs, keyMode.String(t.Mode), keyHits.Int(len(t.TopK)))
	n.events = append(n.events, s.ranks(t)...)
	for i := range t.Stages {
		if stage := &t.Stages[i]; stage.Stage == rag.StageQuery {
			if k := whole(stage, "top_k"); k > 0 {
				n.attrs = append(n.attrs, keyTopK.Int(k))
			}
		}
	}
	if s.config.Content {
		n.attrs = append(n.attrs, keyQueryText.String(t.UserQuery), keyDocuments.String(documents(t)))
	}
	last := min(len(searchStages), len(t.Stages))
	s.stages(n, t.Stages[:last], times)
}

// answer makes a node that of an answer: the search in a node of its own, as the conventions know it, then the rest.
func (s *Sink) answer(n *node, t *rag.Trace, times []interval) {
	last := min(len(searchStages), len(t.Stages))
	if began, ended, ok := span(t.Stages[:last], times); ok {
		search := &node{start: began, end: ended, kind: trace.SpanKindInternal}
		s.retrieval(search, t, times)
		n.children = append(n.children, search)
	}
	s.stages(n, t.Stages[last:], times[last:])
}

// agent makes a node that of an agent: its steps are tools, but for the answer and the look back at it.
func (s *Sink) agent(n *node, t *rag.Trace, times []interval) {
	n.name = opAgent + " " + agentName
	n.operation, n.labels = opAgent, []attribute.KeyValue{keyOperation.String(opAgent), keyProvider.String(agentName), keyAgent.String(agentName)}
	n.attrs = append(n.attrs, n.labels...)
	n.attrs = append(n.attrs, keyDataSource.String(t.Collection))
	for i := range t.Stages {
		step := s.stage(&t.Stages[i], times[i])
		if name := t.Stages[i].Stage; name != "answer" && name != rag.StageVerify {
			step.name = opTool + " " + name
			step.operation = opTool
			step.labels = []attribute.KeyValue{keyOperation.String(opTool), keyTool.String(name), keyToolType.String("datastore")}
			step.attrs = append(step.attrs, step.labels...)
			if s.config.Content {
				step.attrs = append(step.attrs, keyArguments.String(said(&t.Stages[i], "arguments")), keyResult.String(said(&t.Stages[i], "observation")))
			}
		}
		n.children = append(n.children, step)
	}
}

// stages adds a node for each stage that ran or failed.
func (s *Sink) stages(n *node, stages []rag.Span, times []interval) {
	for i := range stages {
		if stage := &stages[i]; ran(stage) {
			n.children = append(n.children, s.stage(stage, times[i]))
		}
	}
}

// stage makes the node of a stage. Those in which a model works are named as the conventions want.
func (s *Sink) stage(stage *rag.Span, at interval) *node {
	n := &node{name: stage.Stage, kind: trace.SpanKindInternal, start: at.start, end: at.end, failure: stageFailure(stage)}
	n.attrs = append(n.attrs, keyStage.String(stage.Stage), keyIn.Int(stage.In), keyOut.Int(stage.Out))
	if stage.Method != "" {
		n.attrs = append(n.attrs, keyMethod.String(stage.Method))
	}
	if stage.Status != "" {
		n.attrs = append(n.attrs, keyStatus.String(stage.Status))
	}
	if n.failure != "" {
		n.message = s.text(stage.Error)
	}
	n.attrs = append(n.attrs, s.details(stage)...)
	switch stage.Stage {
	case rag.StageGenerate:
		n.chat(stage)
	case rag.StageEmbed:
		if whole(stage, "embedded") > 0 {
			n.embeddings(stage.Method, stage)
		}
	case rag.StageDense:
		if took := figure(stage, "embed_ms"); took > 0 {
			child := &node{start: n.start, end: n.start.Add(milliseconds(took))}
			child.embeddings(said(stage, "embedder"), stage)
			n.children = append(n.children, child)
		}
	}
	return n
}

// operate makes a node the operation of a model.
func (n *node) operate(operation string, m model) {
	n.name, n.operation, n.labels = operation, operation, m.attributes(operation)
	if m.name != "" {
		n.name += " " + m.name
	}
	if n.kind = trace.SpanKindInternal; m.remote {
		n.kind = trace.SpanKindClient
	}
	n.attrs = append(n.attrs, n.labels...)
}

// chat makes a node that of a chat model.
func (n *node) chat(stage *rag.Span) {
	n.operate(opChat, modelOf(stage.Method, said(stage, "model")))
	n.attrs = append(n.attrs, keyStream.Bool(true))
	if stop := said(stage, "stop"); stop != "" {
		n.attrs = append(n.attrs, keyFinishReasons.StringSlice([]string{stop}))
	}
	if first := figure(stage, "first_text_ms"); first > 0 {
		n.attrs = append(n.attrs, keyFirstChunk.Float64(seconds(first)))
		n.firstChunk = seconds(first)
	}
	in, out := whole(stage, "input_tokens"), whole(stage, "output_tokens")
	if in+out == 0 {
		return // the model does not count
	}
	n.attrs = append(n.attrs, keyInputTokens.Int(in), keyOutputTokens.Int(out))
	n.tokens = map[string]int64{"input": int64(in), "output": int64(out)}
}

// embeddings makes a node that of an embedding model.
func (n *node) embeddings(provider string, stage *rag.Span) {
	n.operate(opEmbeddings, modelOf(provider, said(stage, "model")))
	if dims := whole(stage, "dimension"); dims > 0 {
		n.attrs = append(n.attrs, keyDimensions.Int(dims))
	}
}

// text is a text that may be told.
func (s *Sink) text(text string) string {
	if !s.config.Content {
		return ""
	}
	return text
}

// ran reports whether a stage did something: what is off or was left out has no span.
func ran(s *rag.Span) bool { return s.Status != rag.SpanOff && s.Status != rag.SpanLeftOut }

// stageFailure is the error.type of a stage; "" if it did not fail.
func stageFailure(s *rag.Span) string {
	if s.Error == "" && s.Status != rag.SpanFailed {
		return ""
	}
	return failureOf(s.ErrorKind)
}

// failureOf is the error.type of a kind of errors.
func failureOf(kind string) string {
	if kind == "" || kind == "failed" { // see rag.ErrorKind
		return failureOther
	}
	return kind
}

// interval is when something ran.
type interval struct{ start, end time.Time }

// layout says when each stage ran. Stages that do not tell, such as the steps of an agent, ran one after the other, the two
// lanes of a search side by side, none beyond the whole.
func layout(t *rag.Trace) []interval {
	whole := milliseconds(t.TotalMS)
	times := make([]interval, len(t.Stages))
	var next time.Duration // when the next stage begins
	var dense time.Duration
	for i, s := range t.Stages {
		start := next
		if s.Stage == rag.StageSparse {
			start = dense
		}
		end := min(start+milliseconds(s.ElapsedMS), whole)
		if s.EndMS > 0 {
			start, end = milliseconds(s.StartMS), milliseconds(s.EndMS)
		}
		if s.Stage == rag.StageDense {
			dense = start
		}
		times[i] = interval{t.Timestamp.Add(min(start, whole)), t.Timestamp.Add(end)}
		next = max(next, end)
	}
	return times
}

// span returns when the first of the stages that ran began and the last one ended.
func span(stages []rag.Span, times []interval) (start, end time.Time, ok bool) {
	for i := range stages {
		if !ran(&stages[i]) {
			continue
		}
		if !ok || times[i].start.Before(start) {
			start = times[i].start
		}
		if times[i].end.After(end) {
			end = times[i].end
		}
		ok = true
	}
	return start, end, ok
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// sortedAttributes turns the settings' attributes into OpenTelemetry's.
func sortedAttributes(set map[string]string) []attribute.KeyValue {
	var kv []attribute.KeyValue
	for _, key := range slices.Sorted(maps.Keys(set)) {
		kv = append(kv, attribute.String(key, set[key]))
	}
	return kv
}
