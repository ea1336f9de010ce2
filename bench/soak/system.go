package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/dashboard"
	"github.com/seed-d8745b77/rag/httpapi"
	"github.com/seed-d8745b77/rag/mcpadapter"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// What fills up by itself is given little room, so that it is full before the second half of the run begins.
const (
	traceBytes = 2 << 20
	cacheBytes = 1 << 20
	graphFrom  = 100 // vectors: a collection of that size has a graph
)

// system is one engine and the three servers over it.
type system struct {
	dir    string
	engine *rag.Engine

	api, pages, mcp string // addresses

	stop    context.CancelFunc
	servers sync.WaitGroup
	closers []func() error
}

// config is the default but for the sizes above.
func config() rag.Config {
	c := rag.DefaultConfig()
	c.Trace.Settings = settings(trace.JSONLConfig{MaxTotalBytes: traceBytes})
	c.EmbedCache.Settings = settings(map[string]int{"max_bytes": cacheBytes})
	c.VectorStore = rag.ProviderConfig{Provider: "hnsw", Settings: settings(map[string]int{"exact_below": graphFrom})}
	return c
}

func settings(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and names
	}
	return b
}

// openEngine uses vectors without a model: under the race detector a model would take most of the time, and it keeps nothing.
func openEngine(dir string, log *slog.Logger, more ...rag.Option) (*rag.Engine, error) {
	return rag.Open(dir, append([]rag.Option{rag.WithConfig(config()), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithLogger(log)}, more...)...)
}

// begin opens the engine in a folder of its own and serves it.
func begin(ctx context.Context, log *slog.Logger) (s *system, err error) {
	s = &system{}
	ctx, s.stop = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "rag-soak"); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(s.dir) })
	if s.engine, err = openEngine(s.data(), log); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.engine.Close)
	lent := access.Fixed(s.engine)
	api, err := httpapi.New(lent, httpapi.Options{Write: true, Logger: log, Quota: httpapi.Quota{PerMinute: 1_000_000, Concurrent: 1000}})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { api.Close(); return nil })
	adapter, err := mcpadapter.New(lent, mcpadapter.Options{Tools: []string{"hub", "docs", "course", "explain", "delete"}, Logger: log})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { adapter.Close(); return nil })
	tools, err := adapter.Handler(mcpadapter.HTTPOptions{})
	if err != nil {
		return nil, err
	}
	pages, err := dashboard.New(s.engine, dashboard.Options{Traces: trace.NewIndex(s.data()), EvalDir: filepath.Join(s.dir, "eval"), UploadDir: filepath.Join(s.dir, "uploads"), Logger: log})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, pages.Close)
	for to, h := range map[*string]http.Handler{&s.api: api, &s.mcp: tools, &s.pages: pages} {
		if err := s.serve(ctx, to, h); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// data is the engine's folder.
func (s *system) data() string { return filepath.Join(s.dir, "kb") }

// serve serves on a free port, as the command does.
func (s *system) serve(ctx context.Context, address *string, h http.Handler) error {
	ln, _, err := access.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	*address = "http://" + ln.Addr().String()
	s.servers.Go(func() {
		if err := access.Serve(ctx, ln, h, access.Grace); err != nil && !errors.Is(err, net.ErrClosed) {
			fmt.Fprintln(os.Stderr, "soak: serve:", err)
		}
	})
	return nil
}

// close ends the servers, the engine and what they wrote.
func (s *system) close() error {
	s.stop()
	s.servers.Wait()
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// client makes requests to the three servers.
type client struct {
	*system
	http *http.Client
}

func newClient(s *system, connections int) *client {
	return &client{s, &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
}

// statusError is an answer that says no.
type statusError struct {
	code int
	body string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %.300s", e.code, e.body) }

// do makes a request and reads its answer.
func (c *client) do(ctx context.Context, method, url, kind string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return b, fmt.Errorf("%s %s: %w", method, url, &statusError{res.StatusCode, string(b)})
	}
	return b, nil
}

// get is do for a page.
func (c *client) get(ctx context.Context, url string) (string, error) {
	b, err := c.do(ctx, http.MethodGet, url, "", nil)
	return string(b), err
}

// missing reports whether an answer is that there is no such thing.
func missing(err error) bool {
	var s *statusError
	return errors.As(err, &s) && s.code == http.StatusNotFound
}
