package dashboard

import "net/http"

// page is a page of the navigation. What it consists of is named after it: <name>.go with its handlers and what they show,
// templates/<name>.html, lang/<language>/<name>.json, and where it needs them assets/<name>.css and assets/<name>.js.
type page struct {
	name   string // also the beginning of the keys of its texts
	path   string
	routes func(*Server, router)
}

// pages lists the pages in the order of the navigation. This is the one place where a page is added.
func pages() []page {
	return []page{
		{"overview", "/", (*Server).overviewRoutes},
		{"browse", "/browse", (*Server).browseRoutes},
		{"ingest", "/ingest", (*Server).ingestRoutes},
		{"ingest_traces", "/traces/ingest", (*Server).ingestTraceRoutes},
		{"query", queryPath, (*Server).queryRoutes},
		{"evaluation", evalPath, (*Server).evaluationRoutes},
	}
}

// routes registers everything that is answered.
func (s *Server) routes() {
	s.mux.HandleFunc("GET /assets/{name}", s.serveAsset)
	s.mux.Handle("GET /", s.answer("", "problem", func(*request) (any, error) { return nil, errNoPage }))
	s.loginRoutes(router{s, "login"})
	for _, p := range pages() {
		p.routes(s, router{s, p.name})
	}
}

// maxForm bounds the body of a change that is no upload, in bytes.
const maxForm = 1 << 20

// router registers the handlers of one page. Patterns are those of http.ServeMux, without BasePath.
type router struct {
	s    *Server
	page string // whose place in the navigation is marked
}

// view answers GET on a path with what show returns: by the template templates/<name>.html, or as JSON with ?format=json, so
// it has JSON tags. What an error becomes, [problemOf] says.
func (on router) view(path, name string, show func(*request) (any, error)) {
	on.s.mux.Handle("GET "+path, on.s.answer(on.page, name, show))
}

// post answers POST on a path by do, which returns [redirect] with the page that shows what came of it, or a view as show of
// [router.view] does. The body has at most maxBody bytes and is left to do; 0: it is a form of at most 1 MiB, which has been read.
func (on router) post(path, name string, maxBody int64, do func(*request) (any, error)) {
	on.s.mux.Handle("POST "+path, on.s.answer(on.page, name, func(r *request) (any, error) {
		if maxBody > 0 {
			r.Body = http.MaxBytesReader(r.w, r.Body, maxBody)
			return do(r)
		}
		if err := r.readForm(); err != nil {
			return nil, err
		}
		return do(r)
	}))
}

// change is post for what changes data: a read-only server refuses it.
func (on router) change(path, name string, maxBody int64, do func(*request) (any, error)) {
	on.post(path, name, maxBody, func(r *request) (any, error) {
		if on.s.o.ReadOnly {
			return nil, errReadOnly
		}
		return do(r)
	})
}

// handle answers a pattern by a handler that writes its own answer, such as a picture or a stream of events. An error that it
// returns before it has written anything becomes an error page.
func (on router) handle(pattern string, write func(http.ResponseWriter, *request) error) {
	on.s.mux.Handle(pattern, on.s.answer(on.page, "problem", func(r *request) (any, error) {
		return written{}, write(r.w, r)
	}))
}
