package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/internal/probe"
	"github.com/seed-d8745b77/rag/mcpadapter"
	"github.com/seed-d8745b77/rag/ragtest"
)

// marked is an engine with the documents of two tenants, and teaches a prober the names of the second's.
func marked(t *testing.T, p *probe.Prober) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	shared, hidden := probe.Documents()
	pictures := 0
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
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: collection, Sources: []rag.Sources{{All: all}}}); err != nil {
			t.Fatal(err)
		}
		for c, err := range eng.Chunks(t.Context(), collection, rag.Eq("tenant", "blue")) {
			if err != nil {
				t.Fatal(err)
			}
			p.Learn(c.ID, c.DocID, c.URI)
			for _, m := range c.Images {
				p.Learn(m.ID)
				pictures++
			}
		}
	}
	if pictures == 0 {
		t.Fatal("the other tenant has no picture")
	}
	return eng
}

func opens(text string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// wire is the traffic of a client, as it comes over HTTP: what is sent with a token, and all that was received.
type wire struct {
	token string
	mu    sync.Mutex
	got   strings.Builder
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := bearer(w.token).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, values := range res.Header {
		w.got.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
	}
	res.Body = &heard{res.Body, w}
	return res, nil
}

// heard is a body that is kept as it is read.
type heard struct {
	io.ReadCloser
	to *wire
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.ReadCloser.Read(b)
	h.to.mu.Lock()
	defer h.to.mu.Unlock()
	h.to.got.Write(b[:n])
	return n, err
}

// take returns what was received since the last time.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.got.Reset()
	return w.got.String()
}

// Nothing of another tenant's documents comes over the wire, whatever tool, resource, prompt or completion is asked for.
func TestTenantsStayApart(t *testing.T) {
	p, dir := probe.New(t), t.TempDir()
	file := filepath.Join(dir, probe.Mark("job")+".md")
	if err := os.WriteFile(file, []byte("---\ntenant: green\n---\nNothing of note.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eng := marked(t, p)
	tokens, err := access.ParseTokens([]byte(`[{"token":"red-red-red-red-red","name":"ann","filter":"tenant = red"},{"token":"all-all-all-all-all","name":"ann"}]`))
	if err != nil {
		t.Fatal(err)
	}
	h, err := adapter(t, eng, mcpadapter.Options{Tools: mcpadapter.Presets(), Roots: []string{dir}}).Handler(mcpadapter.HTTPOptions{Tokens: tokens, Rate: 1e6, Burst: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	all, err := dial(t, server.URL, "all-all-all-all-all")
	if err != nil {
		t.Fatal(err)
	}
	call(t, all, "ask", map[string]any{"query": "where is " + probe.Mark("question") + " kept"}) // leaves a trace
	_, job := call(t, all, "ingest", map[string]any{"path": file})
	p.Learn(job["job_id"].(string))

	w := &wire{token: "red-red-red-red-red"}
	transport := &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp", MaxRetries: -1, HTTPClient: &http.Client{Transport: w}}
	red, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer red.Close()
	list, err := red.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 10 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	own, refused := 0, 0
	for range probe.Requests {
		what, pictures, err := ask(t, red, list.Tools, p)
		reply := w.take()
		if err != nil {
			reply += err.Error()
			refused++
		}
		if leak := p.Leak(what, reply, pictures...); leak != "" {
			t.Fatalf("%s tells %q: %s", what, leak, reply)
		}
		if strings.Contains(reply, probe.Own) && !strings.Contains(what, probe.Own) {
			own++
		}
	}
	if own < 50 || refused < 50 {
		t.Errorf("%d replies have a passage of the tenant's own, and %d requests were refused: the test shows little", own, refused)
	}
	if infos, err := eng.Collections(t.Context()); err != nil || len(infos) != 2 || infos[0].Documents+infos[1].Documents != 6 {
		t.Errorf("something was deleted: %+v, %v", infos, err)
	}
}

// ask makes one request, and returns what it held and the pictures that came.
func ask(t *testing.T, red *mcp.ClientSession, tools []*mcp.Tool, p *probe.Prober) (what string, pictures [][]byte, err error) {
	ctx := t.Context()
	said := func(v any) string {
		b, _ := json.Marshal(v) // it went over the wire
		return string(b)
	}
	switch p.N(8) {
	case 0:
		r := &mcp.ReadResourceParams{URI: "rag://" + p.Pick("collections", "default/"+p.Name(), "/"+p.Name(), probe.Hidden()+"/"+p.Name(), p.Name(), "default/"+p.Name()+"/../x")}
		_, err := red.ReadResource(ctx, r)
		return said(r), nil, err
	case 1:
		r := &mcp.ListResourcesParams{Cursor: p.Pick("", "", "document:1", "document:2", "document:-1", p.Name())}
		_, err := red.ListResources(ctx, r)
		return said(r), nil, err
	case 2:
		r := &mcp.GetPromptParams{Name: "answer_with_citations", Arguments: map[string]string{"question": p.Question(), "filter": p.Filter(), "collection": p.Collection()}}
		_, err := red.GetPrompt(ctx, r)
		return said(r), nil, err
	case 3:
		ref := &mcp.CompleteReference{Type: "ref/prompt", Name: "answer_with_citations"}
		if p.N(2) == 0 {
			ref = &mcp.CompleteReference{Type: "ref/resource", URI: "rag://{collection}/{document}"}
		}
		r := &mcp.CompleteParams{
			Ref: ref, Argument: mcp.CompleteParamsArgument{Name: p.Pick("filter", "document", "collection"), Value: p.Pick("", "", "t", "owner", p.Name()[:1])},
			Context: &mcp.CompleteContext{Arguments: map[string]string{"collection": p.Collection()}},
		}
		_, err := red.Complete(ctx, r)
		return said(r), nil, err
	}
	tool := tools[p.N(len(tools))]
	r := &mcp.CallToolParams{Name: tool.Name, Arguments: arguments(tool, p)}
	res, err := red.CallTool(ctx, r)
	if err == nil && res.IsError {
		err = errors.New("the tool refused")
	}
	if res != nil {
		for _, c := range res.Content {
			if picture, ok := c.(*mcp.ImageContent); ok {
				pictures = append(pictures, picture.Data)
			}
		}
	}
	return said(r), pictures, err
}

// arguments makes some up for each parameter of a tool.
func arguments(tool *mcp.Tool, p *probe.Prober) map[string]any {
	schema := tool.InputSchema.(map[string]any)
	args := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema["properties"].(map[string]any))) {
		switch {
		case name == "query" || name == "question":
			args[name] = p.Question()
		case name == "filter":
			args[name] = p.Filter()
		case name == "collection":
			args[name] = p.Pick(p.Collection(), "default")
		case schema["properties"].(map[string]any)[name].(map[string]any)["type"] == "string":
			args[name] = p.Name()
		case name == "top_k":
			args[name] = 1 + p.N(20)
		}
		if p.N(4) == 0 && name != "query" && name != "question" {
			delete(args, name)
		}
	}
	return args
}

// Who may not ingest is told so in the same words, whether a file is there or not.
func TestWhoMayNotIngestLearnsNothingOfFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := access.ParseTokens([]byte(`[{"token":"red-red-red-red-red","name":"red","filter":"tenant = red"}]`))
	if err != nil {
		t.Fatal(err)
	}
	h, err := adapter(t, engine(t), mcpadapter.Options{Tools: []string{"ingest"}, Roots: []string{dir}}).Handler(mcpadapter.HTTPOptions{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	red, err := dial(t, server.URL, "red-red-red-red-red")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, name := range []string{"there.md", "missing.md"} {
		res, err := red.CallTool(t.Context(), &mcp.CallToolParams{Name: "ingest", Arguments: map[string]any{"path": filepath.Join(dir, name)}})
		if err != nil || !res.IsError {
			t.Fatalf("%+v, %v", res, err)
		}
		told[res.Content[0].(*mcp.TextContent).Text] = true
	}
	if len(told) != 1 {
		t.Errorf("told %v", told)
	}
}
