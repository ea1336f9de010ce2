// Package otel hands the traces of an engine to OpenTelemetry: each ingest, search, answer and agent becomes a tree of
// spans under the span of the caller's context, and is counted in metrics.
//
//	sink, err := otel.New(otel.Config{TracerProvider: tp, MeterProvider: mp, Next: trace.NewJSONL(dir, trace.JSONLConfig{})})
//	...
//	eng, err := rag.Open(dir, rag.WithTraceSink(sink))
//
// Names follow the semantic conventions for generative AI, see [SchemaURL]; what these have no name for begins with
// "rag.". docs/observability.md lists all of them.
package otel

import (
	"context"
	"fmt"
	"io"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/seed-d8745b77/rag"
)

// Scope is the name of the tracer and the meter.
const Scope = "github.com/seed-d8745b77/rag/trace/otel"

// Config sets what is told, and to whom.
type Config struct {
	// Content adds texts to spans: questions, URIs, arguments and results of tools, reasons and messages of errors. The
	// conventions ask for them to be off unless somebody wants them: they may be personal, and go where spans go.
	Content bool `json:"content"`
	// Ranks is how many passages of a search have their ranks told, each in an event; 0: 50, below 0: none.
	Ranks int `json:"ranks,omitzero" range:"[-1,10000] but 0"`
	// Attributes are added to each outermost span: the name of a tenant, say.
	Attributes map[string]string `json:"attributes"`

	// TracerProvider gets the spans; nil: nobody.
	TracerProvider trace.TracerProvider `json:"-"`
	// MeterProvider gets the metrics; nil: nobody.
	MeterProvider metric.MeterProvider `json:"-"`
	// Next is given each trace too, for `rag trace` and the dashboard; nil: none. Close closes it if it can be closed.
	Next rag.TraceSink `json:"-"`
}

// defaultRanks keeps a span below the 128 events that SDKs allow, and is what a stage keeps in a trace.
const defaultRanks = 50

// Sink is the trace sink "otel". It is safe for concurrent use. It flushes nothing: its providers are their owner's, who
// shuts them down after the engine is closed.
type Sink struct {
	config  Config
	extra   []attribute.KeyValue
	tracer  trace.Tracer
	metrics metrics
}

var _ rag.TraceSink = (*Sink)(nil)

// New returns a sink that tells the providers of c, and no global one. The error is the meter's.
func New(c Config) (*Sink, error) {
	if c.Ranks == 0 {
		c.Ranks = defaultRanks
	}
	if c.TracerProvider == nil {
		c.TracerProvider = nooptrace.NewTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = noopmetric.NewMeterProvider()
	}
	m, err := newMetrics(c.MeterProvider.Meter(Scope, metric.WithSchemaURL(SchemaURL)))
	if err != nil {
		return nil, fmt.Errorf("otel: make the instruments: %w", err)
	}
	return &Sink{
		config:  c,
		extra:   sortedAttributes(c.Attributes),
		tracer:  c.TracerProvider.Tracer(Scope, trace.WithSchemaURL(SchemaURL)),
		metrics: m,
	}, nil
}

// Record ends the spans of t at the times at which its stages ended, counts them, and gives t to the next sink, whose
// error it returns.
func (s *Sink) Record(ctx context.Context, t *rag.Trace) error {
	root := s.root(t)
	s.metrics.count(s.emit(ctx, root), t, root)
	if s.config.Next == nil {
		return nil
	}
	return s.config.Next.Record(ctx, t)
}

// Close closes the next sink.
func (s *Sink) Close() error {
	if c, ok := s.config.Next.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// emit ends the span of a node and those below it, and returns a context in which it is the current one.
func (s *Sink) emit(ctx context.Context, n *node) context.Context {
	ctx, span := s.tracer.Start(ctx, n.name, trace.WithSpanKind(n.kind), trace.WithTimestamp(n.start), trace.WithAttributes(n.attrs...))
	for _, child := range n.children {
		s.emit(ctx, child)
	}
	for _, e := range n.events {
		span.AddEvent(e.name, trace.WithTimestamp(n.end), trace.WithAttributes(e.attrs...))
	}
	if n.failure != "" {
		span.SetAttributes(keyErrorType.String(n.failure))
		span.SetStatus(codes.Error, n.message)
	}
	span.End(trace.WithTimestamp(n.end))
	return ctx
}
