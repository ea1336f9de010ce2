// Package httpapi serves an engine to programs over HTTP: a small JSON API with a description in OpenAPI, streams of
// server-sent events, and metrics.
//
//	api, err := httpapi.New(access.Folder("kb", true, nil), httpapi.Options{Write: true})
//	defer api.Close()
//	mux.Handle("/", api)
//
// Who may see only a part of the data (an [access.Principal]) sees that part in results, documents, pictures, explanations
// and errors. A server that is busy says so at once and when to come back; nothing waits without a bound. docs/http.md
// describes the routes.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/jobs"
)

// Options sets a server up. Without Tokens and JWT everybody who reaches it sees everything, and may write where Write is set.
type Options struct {
	Collection string           // that calls mean which name none; "": "default"
	Tokens     []access.Token   // bearer tokens, each with who has it
	JWT        *access.JWT      // tokens of an identity provider; nil: none
	Hosts      []string         // names by which the server may be called besides those of its own loopback address; needed behind a gateway
	Origins    []string         // pages that may call from a browser (CORS), such as "https://app.example"; none otherwise
	Domains    []*domain.Domain // subjects: their rules hold for questions to their collections, and their manifests can be ingested
	Write      bool             // documents may be ingested and deleted; else those routes answer 403
	Roots      []string         // folders whose files may be ingested by path; nil: only uploads

	Quota     Quota         // of each tenant
	Parallel  int           // most requests at work at once; 0: 16
	Queue     int           // most requests that wait for those; more are answered 503; 0: 64
	Budget    time.Duration // longest a request may take, waiting included; 0: 60 s
	MaxBody   int64         // bytes of a JSON request; 0: 1 MB
	MaxUpload int64         // bytes of an upload, all its files together; 0: 256 MB
	JobGrace  time.Duration // how long Close waits for jobs before it cancels them; 0: 20 s

	Logger *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
}

const (
	defaultParallel  = 16
	defaultQueue     = 64
	defaultBudget    = 60 * time.Second
	defaultMaxBody   = 1 << 20
	defaultMaxUpload = 256 << 20
	defaultJobGrace  = 20 * time.Second

	// heartbeat is the longest silence of a stream: gateways cut connections on which nothing comes, most after 30 s and more.
	heartbeat = 15 * time.Second
)

// Server is an http.Handler over an engine. Make one with [New]; it is safe for concurrent use.
type Server struct {
	o    Options
	data access.Data
	keys *access.Keys // nil: everybody is the owner
	mux  *http.ServeMux

	views   access.Views
	jobs    *jobs.Manager
	quotas  *quotas
	gate    *gate
	metrics *metrics
	beat    time.Duration

	description []byte // OpenAPI

	draining atomic.Bool
	ended    context.Context //nolint:containedctx // done when the server drains: no request lives as long
	end      context.CancelFunc
	watchers sync.WaitGroup // of jobs that are under way
}

// New returns a server over data, which stays its owner's. Settings that cannot be right are rag.ErrInvalid.
func New(data access.Data, o Options) (*Server, error) {
	fill(&o.Collection, "default")
	fill(&o.Parallel, defaultParallel)
	fill(&o.Queue, defaultQueue)
	fill(&o.Budget, defaultBudget)
	fill(&o.MaxBody, defaultMaxBody)
	fill(&o.MaxUpload, defaultMaxUpload)
	fill(&o.JobGrace, defaultJobGrace)
	fill(&o.Quota.PerMinute, defaultPerMinute)
	fill(&o.Quota.Concurrent, defaultConcurrent)
	fill(&o.Quota.TopK, defaultMostTopK)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Parallel < 0 || o.Queue < 0 || o.Budget < 0 || o.MaxBody < 0 || o.MaxUpload < 0 || o.JobGrace < 0 {
		return nil, fmt.Errorf("http: parallel %d, queue %d, budget %v, max_body %d, max_upload %d, job grace %v: none may be negative: %w",
			o.Parallel, o.Queue, o.Budget, o.MaxBody, o.MaxUpload, o.JobGrace, rag.ErrInvalid)
	}
	if err := o.Quota.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		o: o, data: data, mux: http.NewServeMux(), beat: heartbeat, description: Description(), metrics: newMetrics(), quotas: newQuotas(o.Quota), gate: newGate(o.Parallel, o.Queue),
		jobs: jobs.New(jobs.Options{Logger: o.Logger, Now: o.Now}),
	}
	if len(o.Tokens) > 0 || o.JWT != nil {
		var err error
		if s.keys, err = access.NewKeys(o.Tokens, o.JWT); err != nil {
			return nil, fmt.Errorf("http: %w", err)
		}
	}
	s.ended, s.end = context.WithCancel(context.Background())
	for _, r := range routes() {
		s.mux.Handle(r.method+" "+r.path, s.handler(r))
	}
	return s, nil
}

// fill puts a default into a zero field.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store") // what is read depends on who asks and when
	if err := access.Guard(r, s.o.Hosts, s.o.Origins); err != nil {
		s.metrics.refuse(codeForbidden)
		writeError(w, &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: err.Error()})
		return
	}
	if s.cors(w, r) {
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.noRoute(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// cors tells a browser that a page which may call may call. It reports whether that was all it asked.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || len(s.o.Origins) == 0 { // the guard let it through, so it is the server's own page or one of Origins
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// noRoute answers a request for nothing that there is.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request) {
	e := &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there is nothing at this path: see /openapi.json"}
	allowed := ""
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.mux.Handler(probe); pattern != "" {
			allowed += ", " + method
		}
	}
	if allowed != "" {
		w.Header().Set("Allow", allowed[2:])
		e = &Error{Status: http.StatusMethodNotAllowed, Code: codeMethod, Message: fmt.Sprintf("%s is not for this path: it takes %s", r.Method, allowed[2:])}
	}
	s.metrics.refuse(e.Code)
	writeError(w, e)
}

// Drain makes the server ready to end: it says that it is not ready, takes no new requests, and ends the streams of jobs.
// Requests that are at work go on.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.end()
}

// Close drains the server, waits for jobs as long as Options.JobGrace says, and then cancels them. The data stays open. What
// a job that was cancelled has written stays, each document whole, and the next ingest goes on.
func (s *Server) Close() {
	s.Drain()
	ended := make(chan struct{})
	go func() { defer close(ended); s.watchers.Wait() }()
	grace := time.NewTimer(s.o.JobGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		s.o.Logger.Warn("jobs are cancelled: the server is ending")
	}
	s.jobs.Close()
	s.watchers.Wait()
}

// errEnding is what is said while the server drains.
var errEnding = &Error{Status: http.StatusServiceUnavailable, Code: codeEnding, Message: "the server is ending: ask another, or again later", retry: 5 * time.Second}

// lend borrows the engine for a call.
func (s *Server) lend(c *call) (done func(), err error) {
	engine, done, err := s.data.Lend(c.r.Context())
	if err != nil {
		if !errors.Is(err, rag.ErrLocked) {
			err = fmt.Errorf("the data cannot be opened: %w: %w", err, rag.ErrUnavailable)
		}
		return nil, err
	}
	c.engine = s.views.Of(engine, c.principal)
	return done, nil
}
