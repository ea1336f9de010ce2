package httpapi

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// metrics counts what the server does, and writes it as Prometheus reads it. It is safe for concurrent use.
// https://prometheus.io/docs/instrumenting/exposition_formats/ has the format. No label tells of a tenant or of data.
type metrics struct {
	mu       sync.Mutex
	requests map[labels]uint64     // by route and status
	latency  map[labels]*histogram // by route
	stages   map[labels]*histogram // by stage
	refused  map[labels]uint64     // by code
	jobs     map[labels]uint64     // that have ended, by state
	running  int                   // jobs that have not ended
	active   int                   // requests
}

// labels are names and values in turn, such as `route="/v1/search",status="200"`.
type labels string

// bounds of the histograms in seconds, each inclusive: from what a search takes to what a chat model takes.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

type histogram struct {
	counts [len(bounds) + 1]uint64 // the last: beyond all bounds
	sum    float64
}

func newMetrics() *metrics {
	return &metrics{
		requests: map[labels]uint64{}, latency: map[labels]*histogram{}, stages: map[labels]*histogram{}, refused: map[labels]uint64{}, jobs: map[labels]uint64{},
	}
}

// label writes one label; values are ours, and still escaped.
func label(name, value string) labels {
	return labels(name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`)
}

// begin counts a request in; what it returns counts it out.
func (m *metrics) begin() (end func()) {
	m.add(&m.active, 1)
	return func() { m.add(&m.active, -1) }
}

func (m *metrics) add(gauge *int, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*gauge += n
}

func (m *metrics) count(in map[labels]uint64, of labels) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in[of]++
}

func (m *metrics) observe(in map[labels]*histogram, of labels, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := in[of]
	if h == nil {
		h = &histogram{}
		in[of] = h
	}
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.counts[i]++
	h.sum += took.Seconds()
}

func (m *metrics) request(r *route, status int, took time.Duration) {
	of := label("route", r.method+" "+r.path)
	m.count(m.requests, of+","+label("status", strconv.Itoa(status)))
	m.observe(m.latency, of, took)
}

func (m *metrics) stage(stage string, took time.Duration) {
	m.observe(m.stages, label("stage", stage), took)
}

func (m *metrics) refuse(code string) { m.count(m.refused, label("code", code)) }

func (m *metrics) jobBegan() { m.add(&m.running, 1) }

func (m *metrics) jobEnded(state string) {
	m.add(&m.running, -1)
	m.count(m.jobs, label("state", state))
}

// write writes all of them, in a fixed order.
func (m *metrics) write(to io.Writer, queued int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := bufio.NewWriter(to)
	defer func() { _ = w.Flush() }() // a reader that has gone needs no answer
	counter(w, "rag_http_requests_total", "Requests answered; status 499: the client went before.", m.requests)
	histograms(w, "rag_http_request_duration_seconds", "Time until a request was answered, streams to their end.", m.latency)
	histograms(w, "rag_stage_duration_seconds", "Time in the stages of searches and answers.", m.stages)
	counter(w, "rag_http_refused_total", "Requests refused before any work, by code.", m.refused)
	counter(w, "rag_jobs_ended_total", "Jobs that have ended, by state.", m.jobs)
	gauge(w, "rag_jobs_active", "Jobs that run or wait.", m.running)
	gauge(w, "rag_http_requests_active", "Requests that are being answered, this one among them.", m.active)
	gauge(w, "rag_http_requests_queued", "Of these, those that wait for others.", queued)
}

func head(w io.Writer, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func gauge(w io.Writer, name, help string, value int) {
	head(w, name, help, "gauge")
	fmt.Fprintf(w, "%s %d\n", name, value)
}

func counter(w io.Writer, name, help string, values map[labels]uint64) {
	head(w, name, help, "counter")
	for _, of := range ordered(values) {
		fmt.Fprintf(w, "%s{%s} %d\n", name, of, values[of])
	}
}

func histograms(w io.Writer, name, help string, values map[labels]*histogram) {
	head(w, name, help, "histogram")
	for _, of := range ordered(values) {
		h, below := values[of], uint64(0)
		for i, bound := range bounds {
			below += h.counts[i]
			fmt.Fprintf(w, "%s_bucket{%s,le=\"%g\"} %d\n", name, of, bound, below)
		}
		below += h.counts[len(bounds)]
		fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %g\n%s_count{%s} %d\n", name, of, below, name, of, h.sum, name, of, below)
	}
}

func ordered[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
