// Traced opens an engine whose calls are told to an OpenTelemetry collector by OTLP over HTTP: spans and metrics of an
// ingest, of each search under a span of the program, and of an answer. Where the collector is, and what else there is to
// set, the exporters read from the environment: OTEL_EXPORTER_OTLP_ENDPOINT, http://localhost:4318 if it is not set.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/trace"
	"github.com/seed-d8745b77/rag/trace/otel"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: example FOLDER QUESTION…")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, folder string, questions []string) (err error) {
	dir, err := os.MkdirTemp("", "rag-traced")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	spans, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	points, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return err
	}
	service := resource.NewSchemaless() // service.name comes from OTEL_SERVICE_NAME
	if found, err := resource.New(ctx, resource.WithFromEnv()); err == nil {
		service = found
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(service))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points)), sdkmetric.WithResource(service))
	defer func() { // sends what is left
		err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}()

	eng, err := traced(dir, tracers, meters)
	if err != nil {
		return err
	}
	defer eng.Close()

	ctx, work := tracers.Tracer("example").Start(ctx, "work") // what the engine does stands under it
	defer work.End()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}}); err != nil {
		return err
	}
	for _, question := range questions {
		answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: question}})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\ntrace %s of the engine, %s of OpenTelemetry\n", answer.Text, answer.TraceID, work.SpanContext().TraceID())
	}
	return nil
}

// traced opens an engine that tells its calls to OpenTelemetry.
func traced(dir string, tracers *sdktrace.TracerProvider, meters *sdkmetric.MeterProvider) (*rag.Engine, error) {
	sink, err := otel.New(otel.Config{
		TracerProvider: tracers, MeterProvider: meters,
		Next: trace.NewJSONL(dir, trace.JSONLConfig{}), // for `rag trace` and the dashboard
	})
	if err != nil {
		return nil, err
	}
	return rag.Open(dir, rag.WithTraceSink(sink))
}
