package dashboard

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/probe"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/trace"
)

// marked is an engine with the documents of two tenants, and teaches a prober the names of the second's.
func marked(t *testing.T, p *probe.Prober, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng := engine(t, opts...)
	shared, hidden := probe.Documents()
	opens := func(data string) func(context.Context) (io.ReadCloser, error) {
		return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }
	}
	for collection, docs := range map[string]map[string]string{"default": shared, probe.Hidden(): hidden} {
		all := func(yield func(rag.Source, error) bool) {
			for _, name := range slices.Sorted(maps.Keys(docs)) {
				src := rag.Source{URI: "mem:docs/" + name, Size: int64(len(docs[name])), Open: opens(docs[name])}
				src.Beside = func(ctx context.Context, name string) (io.ReadCloser, error) {
					if name == "" {
						return nil, rag.ErrNotFound
					}
					return opens(string(probe.Picture(name)))(ctx)
				}
				if !yield(src, nil) {
					return
				}
			}
		}
		rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: collection, Sources: []rag.Sources{{All: all}}})
		if err != nil {
			t.Fatal(err)
		}
		p.Learn(rep.TraceID)
		for c, err := range eng.Chunks(t.Context(), collection, rag.Eq("tenant", "blue")) {
			if err != nil {
				t.Fatal(err)
			}
			p.Learn(c.ID, c.DocID, c.URI)
			for _, m := range c.Images {
				p.Learn(m.ID)
			}
		}
	}
	return eng
}

// A dashboard over a view tells nothing of another tenant's documents, questions, traces and evaluations, and one over everything
// tells nobody anything who has not its token: whichever page is asked for, with whatever in the address or the form.
func TestTenantsStayApart(t *testing.T) {
	racetest.Skip(t)
	p, ring, results := probe.New(t), trace.NewRing(trace.RingConfig{}), filepath.Join(t.TempDir(), "results")
	eng := marked(t, p, rag.WithTraceSink(ring))
	res, err := eng.Search(t.Context(), rag.Query{Text: "where is " + probe.Mark("question") + " kept"})
	if err != nil {
		t.Fatal(err)
	}
	p.Learn(res.TraceID)
	owner := server(t, eng, Options{Traces: ring, EvalDir: results})
	if code, _, body := upload(t, owner, probe.Mark("job")+".jsonl", `{"id":"a","question":"the `+probe.Mark("text")+` badger","answerable":true,"expected_sources":["blue-sett.md"]}`); code >= 400 {
		t.Fatalf("upload: %d %s", code, body)
	}
	if _, _, body := get(t, owner, evalPath); !strings.Contains(body, probe.Mark("job")) {
		t.Fatal("the owner does not see the test set")
	}
	for _, tt := range []struct {
		name string
		s    *Server
		set  func(*http.Request)
		own  int // replies that show the tenant's own, at least
	}{
		{"over a view", server(t, eng.Scoped(rag.Eq("tenant", "red")), Options{Traces: ring, EvalDir: results, UploadDir: t.TempDir(), Roots: []string{results}}), func(*http.Request) {}, 15},
		{"without the token", server(t, eng, Options{Traces: ring, EvalDir: results, Token: testToken}), header("Authorization", "Bearer "+testToken[1:]+"x"), 0},
	} {
		own := 0
		for range probe.Requests {
			method, path, form := pageRequest(p)
			var code int
			var h http.Header
			var body string
			if method == http.MethodGet {
				code, h, body = get(t, tt.s, path, tt.set)
			} else {
				code, h, body = post(t, tt.s, path, form, tt.set)
			}
			if next := h.Get("Location"); next != "" { // what came of it
				_, _, page := get(t, tt.s, next, tt.set)
				body += page
			}
			told := fmt.Sprint(h) + body
			if leak := p.Leak(path+"\n"+form, told, []byte(body)); leak != "" {
				t.Fatalf("%s: %s %s %s: %d tells %q: %s", tt.name, method, path, form, code, leak, body)
			}
			if code >= 500 {
				t.Fatalf("%s: %s %s %s: %d", tt.name, method, path, form, code)
			}
			if strings.Contains(body, probe.Own) {
				own++
			}
		}
		if own < tt.own || tt.own == 0 && own > 0 {
			t.Errorf("%s: %d replies have the tenant's own passages", tt.name, own)
		}
	}
}

// pageRequest is one try: the path with its query, and a form.
func pageRequest(p *probe.Prober) (method, path, form string) {
	q := url.Values{}
	name := url.PathEscape(p.Name())
	for _, key := range []string{"collection", "uri", "chunk", "document", "doc", "question", "filter", "id", "a", "b", "from", "to", "as_of", "after", "q", "status", "mode", "top_k", "set", "range", "trace", "confirm", "what", "step"} {
		switch p.N(8) {
		case 0:
			q.Set(key, p.Name())
		case 1:
			q.Set(key, map[string]string{
				"collection": p.Collection(), "filter": p.Filter(), "question": p.Question(), "as_of": p.Day(), "uri": "mem:docs/red.md", "doc": "mem:docs/red.md",
				"q": p.Question(), "mode": p.Pick("hybrid", "dense", "sparse"), "top_k": "20", "what": p.Pick("all", "filter"), "step": p.Pick("ask", "delete"),
			}[key])
		}
	}
	if p.N(4) == 0 {
		q.Set("format", "json")
	}
	collection := url.PathEscape(p.Pick("default", "none", probe.Hidden()))
	if p.N(3) == 0 {
		q.Set("question", p.Question())
		q.Set("collection", p.Pick("default", "default", p.Collection()))
		return http.MethodPost, queryPath + "/try", q.Encode()
	}
	if p.N(5) == 0 {
		q.Del("format")
		return http.MethodPost, p.Pick(evalPath+"/run", evalPath+"/questions", evalPath+"/jobs/"+name+"/cancel", "/ingest/start", "/ingest/jobs/"+name+"/cancel", "/health", "/ingest/uploads/"+name+"/discard", "/login", "/logout"), q.Encode()
	}
	if p.N(5) == 0 {
		q.Set("uri", p.Pick("mem:docs/red.md", p.Name()))
		return http.MethodGet, "/browse/" + p.Pick("default", collection) + "/doc?" + q.Encode(), ""
	}
	path = p.Pick(
		"/", "/validity", "/browse", "/browse/"+collection+"/image/"+name, "/ingest", "/ingest/jobs/"+name, "/ingest/jobs/"+name+"/changes",
		"/ingest/jobs/"+name+"/events", "/ingest/uploads/"+name, "/traces/ingest", "/traces/ingest/"+name, queryPath, queryPath+"/"+name, queryPath+"/compare", queryPath+"/explain", queryPath+"/explain",
		evalPath, evalPath+"/runs/"+name, evalPath+"/compare", evalPath+"/jobs/"+name+"/events", "/"+name, "/assets/"+name,
	)
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return http.MethodGet, path, ""
}
