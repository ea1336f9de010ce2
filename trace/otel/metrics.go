package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-d8745b77/rag"
)

// Bounds of the conventions for durations of models in seconds, of agents, and for tokens; and our own for stages, most of
// which end before the first of those.
var (
	modelSeconds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	agentSeconds = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
	tokenCounts  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	stageSeconds = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800}
	hitCounts    = []float64{0, 1, 2, 3, 5, 10, 20, 50, 100}
)

// metrics are the instruments.
type metrics struct {
	model, firstChunk, agent, tool, operation, stage metric.Float64Histogram
	tokens, hits                                     metric.Int64Histogram
	notes, documents, passages, pairs                metric.Int64Counter
}

func newMetrics(m metric.Meter) (made metrics, err error) {
	seconds := func(into *metric.Float64Histogram, name, what string, bounds []float64) {
		if err == nil {
			*into, err = m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
		}
	}
	numbers := func(into *metric.Int64Histogram, name, unit, what string, bounds []float64) {
		if err == nil {
			*into, err = m.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
		}
	}
	counter := func(into *metric.Int64Counter, name, unit, what string) {
		if err == nil {
			*into, err = m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		}
	}
	seconds(&made.model, "gen_ai.client.operation.duration", "GenAI operation duration.", modelSeconds)
	seconds(&made.firstChunk, "gen_ai.client.operation.time_to_first_chunk", "Time until a chat model's reply begins.", modelSeconds)
	seconds(&made.agent, "gen_ai.invoke_agent.duration", "Duration of an agent's work.", agentSeconds)
	seconds(&made.tool, "gen_ai.execute_tool.duration", "Duration of a tool's execution.", modelSeconds)
	numbers(&made.tokens, "gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", tokenCounts)
	seconds(&made.operation, "rag.operation.duration", "Duration of an ingest, search, answer or agent; its count by error.type is that of the failures.", stageSeconds)
	seconds(&made.stage, "rag.stage.duration", "Time spent in a stage; in an ingest summed over workers.", stageSeconds)
	numbers(&made.hits, "rag.search.hits", "{hit}", "Passages that a search returned.", hitCounts)
	counter(&made.notes, "rag.notes", "{note}", "Times that a stage did less than was asked.")
	counter(&made.documents, "rag.ingest.documents", "{document}", "Documents of ingests by what became of them.")
	counter(&made.passages, "rag.embedding.passages", "{passage}", "Passages of ingests by where their vectors came from: computed, or known to the cache or the index.")
	counter(&made.pairs, "rag.rerank.pairs", "{pair}", "Pairs of question and passage by where their scores came from: computed or remembered.")
	return made, err
}

// count counts a trace. ctx holds its span, for exemplars.
func (m *metrics) count(ctx context.Context, t *rag.Trace, root *node) {
	what := keyRAG.String(t.Type)
	m.operation.Record(ctx, seconds(t.TotalMS), metric.WithAttributes(withFailure([]attribute.KeyValue{what}, root.failure)...))
	m.walk(ctx, root)
	for _, n := range t.Notes {
		m.notes.Add(ctx, 1, metric.WithAttributes(what, keyStage.String(n.Stage)))
	}
	if t.Type == rag.TraceQuery || t.Type == rag.TraceAsk {
		m.hits.Record(ctx, int64(len(t.TopK)), metric.WithAttributes(what, keyMode.String(t.Mode)))
	}
	for i := range t.Stages {
		m.countStage(ctx, what, &t.Stages[i])
	}
	if c := t.Counts; c != nil {
		m.outcomes(ctx, m.documents, keyOutcome, map[string]int{
			"added": c.Added, "updated": c.Updated, "moved": c.Moved, "unchanged": c.Unchanged, "deleted": c.Deleted, "failed": c.Failed,
		})
	}
}

// walk counts the operations of models, agents and tools below a node.
func (m *metrics) walk(ctx context.Context, n *node) {
	instrument := m.model
	switch n.operation {
	case opAgent:
		instrument = m.agent
	case opTool:
		instrument = m.tool
	}
	if n.operation != "" {
		instrument.Record(ctx, n.end.Sub(n.start).Seconds(), metric.WithAttributes(withFailure(n.labels, n.failure)...))
	}
	if n.firstChunk > 0 {
		m.firstChunk.Record(ctx, n.firstChunk, metric.WithAttributes(n.labels...))
	}
	for kind, count := range n.tokens {
		m.tokens.Record(ctx, count, metric.WithAttributes(append(n.labels[:len(n.labels):len(n.labels)], keyTokenType.String(kind))...))
	}
	for _, child := range n.children {
		m.walk(ctx, child)
	}
}

// countStage counts a stage that ran, or failed.
func (m *metrics) countStage(ctx context.Context, what attribute.KeyValue, s *rag.Span) {
	if s.Status == rag.SpanOff || s.Status == rag.SpanLeftOut {
		return
	}
	labels := []attribute.KeyValue{what, keyStage.String(s.Stage)}
	if s.Method != "" {
		labels = append(labels, keyMethod.String(s.Method))
	}
	m.stage.Record(ctx, seconds(s.ElapsedMS), metric.WithAttributes(withFailure(labels, stageFailure(s))...))
	switch s.Stage {
	case rag.StageEmbed:
		m.outcomes(ctx, m.passages, keyOrigin, map[string]int{
			"computed": whole(s, "embedded"), "cache": whole(s, "cached"), "index": whole(s, "reused"),
		})
	case rag.StageRerank:
		if s.Status == rag.SpanFailed {
			return
		}
		remembered := whole(s, "remembered")
		m.outcomes(ctx, m.pairs, keyOrigin, map[string]int{"computed": s.In - remembered, "remembered": remembered})
	}
}

// outcomes adds numbers that differ in one label; what did not happen is not told.
func (m *metrics) outcomes(ctx context.Context, into metric.Int64Counter, label attribute.Key, numbers map[string]int) {
	for name, n := range numbers {
		if n > 0 {
			into.Add(ctx, int64(n), metric.WithAttributes(label.String(name)))
		}
	}
}

// withFailure adds error.type to labels.
func withFailure(labels []attribute.KeyValue, failure string) []attribute.KeyValue {
	if failure == "" {
		return labels
	}
	return append(labels[:len(labels):len(labels)], keyErrorType.String(failure))
}

func seconds(ms float64) float64 { return ms / 1000 }
