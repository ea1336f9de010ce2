package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// collector is what `scripts/install-otel-collector` builds: OpenTelemetry's own.
const collector = "../../../bin/otel-collector"

// startCollector runs it, and returns its address and a function that stops it and returns what it handed on.
func startCollector(t *testing.T) (url string, stop func() []received) {
	t.Helper()
	if _, err := os.Stat(collector); err != nil {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("there is no collector: run scripts/install-otel-collector")
		}
		t.Skip("skipped: needs the collector that scripts/install-otel-collector builds")
	}
	var mu sync.Mutex
	var got []received
	next := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, parse(t, r.Body)...)
	}))
	t.Cleanup(next.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	settings := filepath.Join(t.TempDir(), "collector.yaml")
	err = os.WriteFile(settings, fmt.Appendf(nil, `
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {otlp_http: {endpoint: %q, encoding: json, compression: none, sending_queue: {enabled: false}}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp_http]}
    metrics: {receivers: [otlp], exporters: [otlp_http]}
`, address, next.URL), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), collector, "--config", settings)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ready := bufio.NewScanner(log), false
	var said strings.Builder
	for !ready && lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		ready = strings.Contains(lines.Text(), "Everything is ready")
	}
	if !ready {
		t.Fatalf("the collector does not start: %s", said.String())
	}
	return "http://" + address, func() []received {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // until it has ended
			fmt.Fprintln(&said, lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("the collector: %v: %s", err, said.String())
		}
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// received is a span or, without a span's fields, a metric.
type received struct {
	Name         string      `json:"name"`
	TraceID      string      `json:"traceId"`
	SpanID       string      `json:"spanId"`
	ParentSpanID string      `json:"parentSpanId"`
	Attributes   []attribute `json:"attributes"`
	Events       []struct {
		Name string `json:"name"`
	} `json:"events"`
	schema string
}

type attribute struct {
	Key   string                     `json:"key"`
	Value map[string]json.RawMessage `json:"value"`
}

func (r *received) attribute(key string) string {
	for _, a := range r.Attributes {
		for _, v := range a.Value {
			if a.Key == key {
				return strings.Trim(string(v), `"`)
			}
		}
	}
	return ""
}

// parse reads a request of OTLP in JSON.
func parse(t *testing.T, body io.Reader) (all []received) {
	t.Helper()
	type scope struct {
		SchemaURL string     `json:"schemaUrl"`
		Spans     []received `json:"spans"`
		Metrics   []received `json:"metrics"`
	}
	var batch struct {
		ResourceSpans []struct {
			ScopeSpans []scope `json:"scopeSpans"`
		} `json:"resourceSpans"`
		ResourceMetrics []struct {
			ScopeMetrics []scope `json:"scopeMetrics"`
		} `json:"resourceMetrics"`
	}
	if err := json.NewDecoder(body).Decode(&batch); err != nil {
		t.Error(err)
	}
	var scopes []scope
	for _, r := range batch.ResourceSpans {
		scopes = append(scopes, r.ScopeSpans...)
	}
	for _, r := range batch.ResourceMetrics {
		scopes = append(scopes, r.ScopeMetrics...)
	}
	for _, s := range scopes {
		for _, r := range append(s.Spans, s.Metrics...) {
			r.schema = s.SchemaURL
			all = append(all, r)
		}
	}
	return all
}

// The program's spans and metrics arrive at a collector that others wrote, in their places.
func TestSpansArriveAtACollector(t *testing.T) {
	url, stop := startCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	folder := t.TempDir()
	text := "# Notice\n\nThe notice period of this contract is three months. It begins on the first day of a month.\n"
	if err := os.WriteFile(filepath.Join(folder, "contract.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, folder, []string{"How long is the notice period of the contract?"}); err != nil {
		t.Fatal(err)
	}
	got := stop()
	find := func(name string) *received {
		i := slices.IndexFunc(got, func(r received) bool { return strings.HasPrefix(r.Name, name) })
		if i < 0 {
			t.Fatalf("%q did not arrive: %+v", name, got)
		}
		return &got[i]
	}
	for child, parent := range map[string]string{
		"ingest default": "work", "load": "ingest default", "ask default": "work", "retrieval default": "ask default",
		"query_processing": "retrieval default", "fusion": "retrieval default", "evidence": "ask default",
	} {
		c, p := find(child), find(parent)
		if c.ParentSpanID != p.SpanID || c.TraceID != p.TraceID {
			t.Errorf("%q does not stand under %q", child, parent)
		}
	}
	search := find("retrieval default")
	if search.attribute("gen_ai.operation.name") != "retrieval" || search.schema == "" || len(search.Events) == 0 || search.Events[0].Name != "rag.rank" {
		t.Errorf("the search: %+v", search)
	}
	if ask := find("ask default"); ask.attribute("rag.trace.id") == "" || !strings.Contains(out.String(), ask.attribute("rag.trace.id")) || !strings.Contains(out.String(), ask.TraceID) {
		t.Errorf("the program says %q of %+v", out.String(), ask)
	}
	for _, metric := range []string{"gen_ai.client.operation.duration", "rag.operation.duration", "rag.stage.duration", "rag.search.hits", "rag.ingest.documents", "rag.embedding.passages"} {
		find(metric)
	}
	if all := fmt.Sprint(got); strings.Contains(all, "contract.md") || strings.Contains(all, "How long") {
		t.Error("texts were sent without being asked for")
	}
}

// The guide shows lines of this program.
func TestTheGuideShowsThisProgram(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) == 0 {
		t.Fatal("the guide shows no code")
	}
	for _, block := range blocks {
		for line := range strings.Lines(string(block[1])) {
			if line = strings.TrimSpace(line); !strings.Contains(string(program), line) {
				t.Errorf("not in the program: %s", line)
			}
		}
	}
}
