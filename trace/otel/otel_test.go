package otel_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace/otel"
)

// told is what a sink told a pair of providers that keep it in memory.
type told struct {
	*otel.Sink
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	tracer *sdktrace.TracerProvider
}

func listen(t *testing.T, c otel.Config) *told {
	t.Helper()
	x := &told{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	x.tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(x.spans))
	c.TracerProvider, c.MeterProvider = x.tracer, sdkmetric.NewMeterProvider(sdkmetric.WithReader(x.reader))
	var err error
	if x.Sink, err = otel.New(c); err != nil {
		t.Fatal(err)
	}
	return x
}

// named returns the one span of this name.
func (x *told) named(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	var found []tracetest.SpanStub
	var names []string
	for _, s := range x.spans.GetSpans() {
		if names = append(names, s.Name); s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q among %q", len(found), name, names)
	}
	return found[0]
}

// value is an attribute of a span or event as text; "" if it has none.
func value(kv []attribute.KeyValue, key string) string {
	for _, a := range kv {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// tree draws the spans, the earliest first: each under its parent, with the times from the start of the first.
func (x *told) tree() string {
	spans := x.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), b.EndTime.Compare(a.EndTime), cmp.Compare(a.Name, b.Name))
	})
	var b strings.Builder
	var draw func(parent tracetest.SpanStub, depth int)
	draw = func(parent tracetest.SpanStub, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID() == parent.SpanContext.SpanID() {
				fmt.Fprintf(&b, "%s%s %d-%d %s\n", strings.Repeat("  ", depth), s.Name,
					s.StartTime.Sub(began).Milliseconds(), s.EndTime.Sub(began).Milliseconds(), s.SpanKind)
				draw(s, depth+1)
			}
		}
	}
	draw(tracetest.SpanStub{}, 0)
	return b.String()
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// answered is the trace of an answer: two passages in the lanes, one of them returned.
func answered() *rag.Trace {
	return &rag.Trace{
		ID: "0123456789abcdef", Type: rag.TraceAsk, Timestamp: began, Collection: "kb", UserQuery: "how long is the notice period?", Mode: "hybrid",
		Stages: []rag.Span{
			{Stage: rag.StageQuery, ElapsedMS: 1, In: 1, Out: 1, Detail: map[string]any{"query": "how long is the notice period?", "language": "en", "top_k": 5}},
			{Stage: rag.StageDense, Method: "flat", ElapsedMS: 20, In: 9, Out: 2, Detail: map[string]any{"embedder": "openai", "model": "text-embedding-3-small", "dimension": 1536, "embed_ms": 15.0},
				Candidates: []rag.Candidate{{ChunkID: "b", Rank: 1, Score: .9}, {ChunkID: "a", Rank: 2, Score: .8}}},
			{Stage: rag.StageSparse, Method: "bm25", ElapsedMS: 5, In: 9, Out: 1, Candidates: []rag.Candidate{{ChunkID: "a", Rank: 1, Score: 7}}},
			{Stage: rag.StageFusion, Method: "rrf", ElapsedMS: 1, In: 2, Out: 2, Moves: &rag.Moves{MovedUp: 1, Dropped: 3},
				Candidates: []rag.Candidate{{ChunkID: "a", Rank: 1, Score: .03, DenseRank: new(2), SparseRank: new(1)}, {ChunkID: "b", Rank: 2, Score: .01, DenseRank: new(1)}}},
			{Stage: rag.StageRerank, Method: "http", ElapsedMS: 30, In: 2, Out: 2, Status: rag.SpanFailed, Error: "the service says no", ErrorKind: "timeout", Detail: map[string]any{"status": rag.RerankTimeout}},
			{Stage: rag.StageShape, Status: rag.SpanOff},
			{Stage: rag.StageEvidence, ElapsedMS: 2},
			{Stage: rag.StagePack, ElapsedMS: 1, Detail: map[string]any{"tokens": 300, "budget": 3000}},
			{Stage: rag.StageGenerate, Method: "mistral", ElapsedMS: 800, Detail: map[string]any{"model": "mistral/mistral-small-latest@api.example.com", "stop": "end", "first_text_ms": 250, "input_tokens": 310, "output_tokens": 25}},
			{Stage: rag.StageExtract, Status: rag.SpanOff},
			{Stage: rag.StageCite, ElapsedMS: 1},
			{Stage: rag.StageVerify, Status: rag.SpanLeftOut},
		},
		TotalMS: 900,
		TopK:    []rag.TopHit{{Rank: 1, ChunkID: "a", URI: "contract.md", Score: .03, Trail: []rag.Rank{{Stage: rag.StageFusion, Position: 1}}}},
		Notes:   []rag.Note{{Stage: rag.StageRerank, Reason: "the fusion order stands: the service says no"}},
	}
}

func TestAnAnswerIsATree(t *testing.T) {
	x := listen(t, otel.Config{Attributes: map[string]string{"tenant": "blue"}})
	if err := x.Record(t.Context(), answered()); err != nil {
		t.Fatal(err)
	}
	want := `ask kb 0-900 internal
  retrieval kb 0-52 internal
    query_processing 0-1 internal
    dense 1-21 internal
      embeddings text-embedding-3-small 1-16 client
    sparse 1-6 internal
    fusion 21-22 internal
    rerank 22-52 internal
  evidence 52-54 internal
  pack 54-55 internal
  chat mistral-small-latest 55-855 client
  cite 855-856 internal
`
	if diff := gocmp.Diff(want, x.tree()); diff != "" {
		t.Error(diff)
	}
	for span, attrs := range map[string]map[string]string{
		"ask kb":                            {"rag.trace.id": "0123456789abcdef", "rag.operation": "ask", "tenant": "blue", "gen_ai.operation.name": ""},
		"retrieval kb":                      {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "kb", "gen_ai.request.top_k": "5", "rag.hits": "1", "gen_ai.retrieval.query.text": "", "gen_ai.retrieval.documents": ""},
		"embeddings text-embedding-3-small": {"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai", "gen_ai.request.model": "text-embedding-3-small", "gen_ai.embeddings.dimension.count": "1536"},
		"chat mistral-small-latest": {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "mistral_ai", "gen_ai.request.model": "mistral-small-latest", "server.address": "api.example.com", "server.port": "443",
			"gen_ai.usage.input_tokens": "310", "gen_ai.usage.output_tokens": "25", "gen_ai.response.finish_reasons": `["end"]`, "gen_ai.response.time_to_first_chunk": "0.25"},
		"fusion": {"rag.rank.moved_up": "1", "rag.rank.dropped": "3", "rag.stage.method": "rrf"},
		"rerank": {"error.type": "timeout", "rag.stage.status": "failed"},
	} {
		got := x.named(t, span).Attributes
		for key, want := range attrs {
			if value(got, key) != want {
				t.Errorf("%s of %q is %q, want %q", key, span, value(got, key), want)
			}
		}
	}
	if s := x.named(t, "rerank").Status; s.Code != otelcodes.Error || s.Description != "" {
		t.Errorf("status of rerank: %+v", s)
	}
}

// Stages that say when they ran stand there.
func TestStagesStandWhereTheyRan(t *testing.T) {
	x := listen(t, otel.Config{})
	err := x.Record(t.Context(), &rag.Trace{ID: "1", Type: rag.TraceIngest, Timestamp: began, Collection: "kb", TotalMS: 100, Stages: []rag.Span{
		{Stage: rag.StageLoad, StartMS: 5, EndMS: 90, ElapsedMS: 160}, {Stage: rag.StageSplit, StartMS: 20, EndMS: 91, ElapsedMS: 3},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff("ingest kb 0-100 internal\n  load 5-90 internal\n  split 20-91 internal\n", x.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestRanksAreEventsOfTheSearch(t *testing.T) {
	told := func(c otel.Config) (rows []string) {
		x := listen(t, c)
		if err := x.Record(t.Context(), answered()); err != nil {
			t.Fatal(err)
		}
		for _, e := range x.named(t, "retrieval kb").Events {
			row := e.Name
			for _, key := range []string{"rag.chunk.id", "rag.rank.dense", "rag.rank.sparse", "rag.rank.fused", "rag.rank.rerank", "rag.rank.final"} {
				row += " " + cmp.Or(value(e.Attributes, key), "-")
			}
			rows = append(rows, row)
		}
		return rows
	}
	want := []string{"rag.rank a 2 1 1 - 1", "rag.rank b 1 - 2 - -"}
	if diff := gocmp.Diff(want, told(otel.Config{})); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(want[:1], told(otel.Config{Ranks: 1})); diff != "" {
		t.Error(diff)
	}
	if got := told(otel.Config{Ranks: -1}); got != nil {
		t.Errorf("none were asked for: %q", got)
	}
}

// Every text that a trace can hold is put there with a mark, and must not be told.
func TestNoTextWithoutContent(t *testing.T) {
	const mark = "a secret"
	full := answered()
	full.UserQuery, full.SourcePath, full.Error, full.ErrorKind = mark, []string{mark}, mark, "unavailable"
	full.Notes[0].Reason, full.TopK[0].URI = mark, mark
	for i := range full.Stages {
		full.Stages[i].Detail = map[string]any{"query": mark, "reason": mark, "arguments": mark, "observation": mark, "original_query": mark, "filter": mark}
		if full.Stages[i].Error != "" {
			full.Stages[i].Error = mark
		}
	}
	for _, kind := range []string{rag.TraceAsk, rag.TraceQuery, rag.TraceIngest, rag.TraceAgent} {
		for _, content := range []bool{false, true} {
			full.Type = kind
			x := listen(t, otel.Config{Content: content})
			if err := x.Record(t.Context(), full); err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			fmt.Fprintf(&all, "%+v", x.spans.GetSpans())
			if got := strings.Contains(all.String(), mark); got != content {
				t.Errorf("%s, content %v: the text is told: %v", kind, content, got)
			}
			if metrics := fmt.Sprintf("%+v", x.collect(t)); strings.Contains(metrics, mark) {
				t.Errorf("%s: metrics tell a text: %s", kind, metrics)
			}
		}
	}
}

// collect returns the metrics, each as "name{labels} sum/count", sorted.
func (x *told) collect(t *testing.T) (lines []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := x.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	add := func(name string, labels attribute.Set, what string) {
		lines = append(lines, name+"{"+labels.Encoded(attribute.DefaultEncoder())+"} "+what)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(m.Name, p.Attributes, fmt.Sprintf("%.3f/%d", p.Sum, p.Count))
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					add(m.Name, p.Attributes, fmt.Sprintf("%d/%d", p.Sum, p.Count))
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(m.Name, p.Attributes, fmt.Sprint(p.Value))
				}
			default:
				t.Fatalf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func TestMetrics(t *testing.T) {
	x := listen(t, otel.Config{})
	failed := &rag.Trace{ID: "1", Type: rag.TraceQuery, Timestamp: began, Collection: "kb", Mode: "sparse", TotalMS: 2, Error: "no", ErrorKind: "unavailable"}
	ingest := &rag.Trace{ID: "2", Type: rag.TraceIngest, Timestamp: began, Collection: "kb", TotalMS: 100, Counts: &rag.Counts{Added: 2, Failed: 1},
		Stages: []rag.Span{{Stage: rag.StageEmbed, Method: "local", ElapsedMS: 50, Detail: map[string]any{"model": "mini", "embedded": 3, "cached": 4, "reused": 5}}}}
	for _, tr := range []*rag.Trace{answered(), answered(), failed, ingest} {
		if err := x.Record(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	got := x.collect(t)
	for _, want := range []string{
		"gen_ai.client.operation.duration{gen_ai.data_source.id=kb,gen_ai.operation.name=retrieval} 0.104/2",
		"gen_ai.client.operation.duration{error.type=unavailable,gen_ai.data_source.id=kb,gen_ai.operation.name=retrieval} 0.002/1",
		"gen_ai.client.operation.duration{gen_ai.operation.name=chat,gen_ai.provider.name=mistral_ai,gen_ai.request.model=mistral-small-latest,server.address=api.example.com,server.port=443} 1.600/2",
		"gen_ai.client.operation.duration{gen_ai.operation.name=embeddings,gen_ai.provider.name=local,gen_ai.request.model=mini} 0.050/1",
		"gen_ai.client.token.usage{gen_ai.operation.name=chat,gen_ai.provider.name=mistral_ai,gen_ai.request.model=mistral-small-latest,gen_ai.token.type=input,server.address=api.example.com,server.port=443} 620/2",
		"gen_ai.client.operation.time_to_first_chunk{gen_ai.operation.name=chat,gen_ai.provider.name=mistral_ai,gen_ai.request.model=mistral-small-latest,server.address=api.example.com,server.port=443} 0.500/2",
		"rag.operation.duration{rag.operation=ask} 1.800/2",
		"rag.operation.duration{error.type=unavailable,rag.operation=query} 0.002/1",
		"rag.stage.duration{error.type=timeout,rag.operation=ask,rag.stage=rerank,rag.stage.method=http} 0.060/2",
		"rag.search.hits{rag.mode=hybrid,rag.operation=ask} 2/2",
		"rag.notes{rag.operation=ask,rag.stage=rerank} 2",
		"rag.ingest.documents{rag.outcome=added} 2",
		"rag.ingest.documents{rag.outcome=failed} 1",
		"rag.embedding.passages{rag.origin=cache} 4",
		"rag.embedding.passages{rag.origin=computed} 3",
		"rag.embedding.passages{rag.origin=index} 5",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("not told: %s\nbut: %s", want, strings.Join(got, "\n     "))
		}
	}
	for _, line := range got {
		if strings.HasPrefix(line, "rag.rerank.pairs") || strings.Contains(line, "stage=shape") || strings.Contains(line, "stage=verify") {
			t.Errorf("told of what did not run: %s", line)
		}
	}
}

func TestAnAgentsStepsAreTools(t *testing.T) {
	x := listen(t, otel.Config{Content: true})
	err := x.Record(t.Context(), &rag.Trace{ID: "1", Type: rag.TraceAgent, Timestamp: began, Collection: "kb", TotalMS: 30, Stages: []rag.Span{
		{Stage: "search", ElapsedMS: 10, Detail: map[string]any{"arguments": `{"query":"x"}`, "observation": "nothing"}}, {Stage: "answer", ElapsedMS: 15},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff("invoke_agent rag 0-30 internal\n  execute_tool search 0-10 internal\n  answer 10-25 internal\n", x.tree()); diff != "" {
		t.Error(diff)
	}
	if got := value(x.named(t, "execute_tool search").Attributes, "gen_ai.tool.call.arguments"); got != `{"query":"x"}` {
		t.Errorf("arguments %q", got)
	}
}

// An engine's calls become children of the caller's span, also one that was cancelled, and the next sink gets all traces.
func TestAnEnginesCallsStandUnderTheCallersSpan(t *testing.T) {
	next := &keeper{}
	x := listen(t, otel.Config{Next: next})
	config := rag.DefaultConfig()
	config.Answer.RefuseBelow = -1
	eng, err := rag.Open("", rag.WithConfig(config), rag.WithTraceSink(x), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithChatModel(&ragtest.Script{
		Turns: []ragtest.Turn{{Text: "Three months [1].", Usage: rag.ChatUsage{InputTokens: 40, OutputTokens: 6}}}}))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	ctx, caller := x.tracer.Tracer("test").Start(t.Context(), "caller")
	_, err = eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("contract.md", []byte("The notice period is three months."))}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "how long is the notice period?"}}); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := eng.Search(stopped, rag.Query{Text: "notice"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	caller.End()
	for _, name := range []string{"ingest default", "ask default"} {
		s := x.named(t, name)
		if s.Parent.SpanID() != caller.SpanContext().SpanID() || s.SpanContext.TraceID() != caller.SpanContext().TraceID() {
			t.Errorf("%s is not the caller's child", name)
		}
	}
	chat := x.named(t, "chat ragtest.Script")
	if got := value(chat.Attributes, "gen_ai.usage.input_tokens"); got != "40" {
		t.Errorf("input tokens %q", got)
	}
	canceled := 0
	for _, s := range x.spans.GetSpans() {
		if s.Name == "retrieval default" && value(s.Attributes, "error.type") == "canceled" {
			canceled++
		}
	}
	if canceled != 1 || len(next.traces) != 3 {
		t.Errorf("%d spans of a cancelled search, %d traces went on", canceled, len(next.traces))
	}
	for _, s := range x.spans.GetSpans() {
		if s.EndTime.Before(s.StartTime) {
			t.Errorf("%s ends before it starts", s.Name)
		}
	}
	if err := x.Close(); err != nil || !next.closed {
		t.Errorf("the next sink is closed: %v, %v", next.closed, err)
	}
}

type keeper struct {
	traces []*rag.Trace
	closed bool
}

func (k *keeper) Record(_ context.Context, t *rag.Trace) error {
	k.traces = append(k.traces, t)
	return nil
}

func (k *keeper) Close() error {
	k.closed = true
	return nil
}

func TestRegistered(t *testing.T) {
	for _, c := range []struct {
		settings string
		want     error
	}{
		{`{}`, nil},
		{`{"content": true, "ranks": 5, "attributes": {"tenant": "blue"}, "also": {"provider": "ring", "size": 3}}`, nil},
		{`{"contents": true}`, rag.ErrInvalid},
		{`{"also": "rink"}`, rag.ErrUnknownProvider},
	} {
		_, err := rag.Default.TraceSinks.New("otel", rag.Env{}, json.RawMessage(c.settings))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.settings, err, c.want)
		}
	}
}
