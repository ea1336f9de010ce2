// Package dashboard shows an engine to people: an http.Handler with pages for what is stored, how it got there, why a
// question found what it found, and how well questions are answered.
//
//	dash, err := dashboard.New(eng, dashboard.Options{BasePath: "/rag"})
//	...
//	defer dash.Close()
//	mux.Handle("/rag/", dash)
//
// Pages are rendered on the server and work without scripts; scripts update parts of them and draw charts. Everything is
// embedded and nothing is fetched from elsewhere. Every page answers ?format=json with what it shows.
package dashboard

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/jobs"
	"github.com/seed-d8745b77/rag/trace"
)

// Options sets a dashboard up. The zero value serves at the root of a server, to whoever reaches it.
type Options struct {
	BasePath   string           // path below which it is mounted: "/rag"; "": the root. Links begin with it, also behind http.StripPrefix
	Token      string           // who knows it may use the dashboard; at least 16 bytes. "": everybody who reaches it may
	Hosts      []string         // names by which the server may be called; needed behind a gateway, see below
	ReadOnly   bool             // changes are neither offered nor made, as over a snapshot
	Collection string           // shown where the URL names none; "": the engine's configured one
	Traces     trace.Reader     // what the engine records; nil: there are none to show, as over an engine that is a view: they tell of everybody
	EvalDir    string           // folder of evaluation runs; "": there are none to show, as over a view: their questions and passages are everybody's
	Domains    []*domain.Domain // subjects whose fields and validity the pages know
	UploadDir  string           // folder for uploaded files, most often "uploads" in the data folder; "": nothing can be uploaded, as over an engine that is a view
	Roots      []string         // folders of this machine whose files may be ingested by path; nil: none, as over a view. Whoever uses the dashboard can read what lies in them
	Version    string           // of the program, for the overview; "": not shown
	Logger     *slog.Logger     // nil: silent
	Now        func() time.Time // nil: time.Now
}

// minToken is the shortest token: 16 random characters cannot be tried out over a network.
const minToken = 16

// Server is a dashboard. It is safe for concurrent use.
//
// On a loopback address it answers only to the names of loopback and to Hosts, so that no web page reaches it by a name of
// its own; on another address to any name, unless Hosts are given.
type Server struct {
	eng     *rag.Engine
	o       Options
	log     *slog.Logger
	now     func() time.Time
	mux     *http.ServeMux
	guarded http.Handler         // mux behind what every request must pass
	texts   map[string]catalogue // by language
	pages   map[string]pageSet   // templates by language
	files   map[string]asset     // by name

	evals   *evalFolder   // nil: no folder of runs is configured
	jobs    *jobs.Manager // work that goes on behind a page
	tried   trials        // questions
	uploads *uploads      // files

	session [32]byte // signs the cookies of those who logged in

	counts statusCache  // of validity
	checks healthChecks // of indexes

	ended context.Context //nolint:containedctx // done when the server is closed: no request lives as long
	end   context.CancelFunc

	warm chan struct{} // closed when the traces that were there have been read once

	starting sync.Mutex     // guards end and work.Go: nothing begins once Close waits
	work     sync.WaitGroup // what the server started
}

// New returns a dashboard over an engine, which stays its owner's. ErrInvalid names an option that cannot be right.
func New(eng *rag.Engine, o Options) (*Server, error) {
	if o.BasePath != "" && (!strings.HasPrefix(o.BasePath, "/") || strings.HasSuffix(o.BasePath, "/")) {
		return nil, fmt.Errorf("dashboard: base path %q must begin with a slash and not end with one: %w", o.BasePath, rag.ErrInvalid)
	}
	if o.Token != "" && len(o.Token) < minToken {
		return nil, fmt.Errorf("dashboard: the token has %d bytes: it must have at least %d: %w", len(o.Token), minToken, rag.ErrInvalid)
	}
	if o.Collection == "" {
		o.Collection = eng.Config().Collection
	}
	if eng.IsView() { // it ingests nothing, and in folders and traces stands what others have
		o.UploadDir, o.Roots, o.Traces, o.EvalDir = "", nil, nil, ""
	}
	s := &Server{eng: eng, o: o, log: o.Logger, now: o.Now, mux: http.NewServeMux()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if o.EvalDir != "" {
		s.evals = newEvalFolder(o.EvalDir)
	}
	_, _ = rand.Read(s.session[:]) // never fails, see crypto/rand
	s.ended, s.end = context.WithCancel(context.Background())
	s.jobs = jobs.New(jobs.Options{Logger: s.log, Now: s.now})
	s.uploads = &uploads{dir: o.UploadDir, now: s.now}
	s.files = loadAssets()
	s.texts = loadCatalogues()
	s.pages = s.parsePages()
	s.routes()
	s.guarded = s.guard(s.mux)
	s.warm = make(chan struct{})
	s.work.Go(func() { // an index reads its files once: begun now, the first reader waits less
		defer close(s.warm)
		if o.Traces != nil {
			if _, err := o.Traces.List(s.ended, trace.Query{Limit: 1}); err != nil && s.ended.Err() == nil {
				s.log.Warn("traces not read", "error", err)
			}
		}
	})
	return s, nil
}

// Warm waits until the traces that were there have been read once, or ctx is done: a page that is asked for before waits for that,
// up to two seconds where there are 50,000. Who serves after it answers every page at once.
func (s *Server) Warm(ctx context.Context) {
	select {
	case <-s.warm:
	case <-ctx.Done():
	}
}

// Close ends what the server started, such as an ingest that is under way, and waits for it. Streams end, and what is still asked
// is answered.
func (s *Server) Close() error {
	s.starting.Lock()
	s.end()
	s.starting.Unlock()
	s.jobs.Close()
	s.work.Wait()
	return s.uploads.close()
}

// start does work beside the request that asked for it, unless the server is closed.
func (s *Server) start(work func()) {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.ended.Err() == nil {
		s.work.Go(work)
	}
}

// ServeHTTP answers a request, with or without BasePath before its path. A path that is not tidy leads to the one that is: the
// mux would do so too, and forget BasePath.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	moved, u := r.Clone(r.Context()), *r.URL
	u.Path, u.RawPath = below(s.o.BasePath, u.Path), below(s.o.BasePath, u.RawPath)
	moved.URL = &u
	at := u.EscapedPath()
	tidy := path.Clean("/" + at)
	if tidy != "/" && strings.HasSuffix(at, "/") {
		tidy += "/"
	}
	if tidy != at {
		http.Redirect(w, r, withQuery(s.o.BasePath+tidy, r.URL.Query()), http.StatusTemporaryRedirect)
		return
	}
	s.guarded.ServeHTTP(w, moved)
}

// below returns a path without the base before it, if that is there.
func below(base, path string) string {
	if rest, ok := strings.CutPrefix(path, base); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}
