package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	"github.com/seed-d8745b77/rag/httpapi"
	"github.com/seed-d8745b77/rag/internal/probe"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
	_ "github.com/seed-d8745b77/rag/verify"
)

// engine holds documents of two tenants.
func engine(t *testing.T, docs map[string]string, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), append([]rag.Option{rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	all := func(yield func(rag.Source, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			src := rag.Source{URI: "mem:docs/" + name, Size: int64(len(docs[name])), Open: opens(docs[name]), Beside: func(ctx context.Context, name string) (io.ReadCloser, error) {
				if name == "" {
					return nil, rag.ErrNotFound
				}
				return opens(string(probe.Picture(name)))(ctx)
			}}
			if !yield(src, nil) {
				return
			}
		}
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{{All: all}}}); err != nil {
		t.Fatal(err)
	}
	return eng
}

func opens(text string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

var handbook = map[string]string{
	"red.md":       "---\ntenant: red\n---\n# Herons\n\n## Food\n\nThe heron of red eats fish at dawn.\n",
	"blue.md":      "---\ntenant: blue\n---\n# Badgers\n\n## Food\n\nThe badger of blue eats worms at night.\n\n## Den\n\nIt sleeps below the old oak.\n",
	"blue-sett.md": "---\ntenant: blue\n---\n# Sett\n\nA drawing of the sett.\n\n![sett](blue-sett.png)\n",
}

// client calls a server, and holds every answer against the API's description.
type client struct {
	t     *testing.T
	url   string
	token string
}

// serve serves data, and returns a client without a token.
func serve(t *testing.T, data access.Data, o httpapi.Options) (*client, *httpapi.Server) {
	t.Helper()
	s, err := httpapi.New(data, o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(h.Close)
	return &client{t: t, url: h.URL}, s
}

func (c *client) as(token string) *client { return &client{c.t, c.url, token} }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// get reads one field, such as "error.code", "" if there is none.
func (a answer) get(path string) string {
	var v any
	_ = json.Unmarshal([]byte(a.body), &v)
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			var i int
			fmt.Sscan(name, &i)
			if v = nil; i < len(at) {
				v = at[i]
			}
		}
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (c *client) request(method, path, body string, header ...string) *http.Request {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	return req
}

func (c *client) do(method, path, body string, header ...string) answer {
	c.t.Helper()
	res, err := http.DefaultClient.Do(c.request(method, path, body, header...))
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := answer{res.StatusCode, res.Header, string(b)}
	c.conforms(method, path, a)
	return a
}

func (c *client) get(path string) answer        { c.t.Helper(); return c.do("GET", path, "") }
func (c *client) post(path, body string) answer { c.t.Helper(); return c.do("POST", path, body) }
func (a answer) wants(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%d %s; want %d", a.status, a.body, status)
	}
	return a
}

// description is what the API says of itself.
type description struct {
	Paths map[string]map[string]struct {
		OperationID string
		Responses   map[string]struct{ Content map[string]media }
	}
	Components struct{ Schemas map[string]*jsonschema.Schema }

	resolved map[string]*jsonschema.Resolved
}

type media struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
	Events map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		}
	} `json:"x-events"`
}

var described = sync.OnceValues(func() (*description, error) {
	var d description
	err := json.Unmarshal(httpapi.Description(), &d)
	d.resolved = map[string]*jsonschema.Resolved{}
	for name, s := range d.Components.Schemas {
		closed(s)
		if err == nil {
			d.resolved[name], err = s.Resolve(nil)
		}
	}
	return &d, err
})

func describe(t *testing.T) *description {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// find returns the media that an answer to a request may have.
func (d *description) find(method, path string, status int) (content map[string]media, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for pattern, methods := range d.Paths {
		want := strings.Split(pattern, "/")
		same := len(want) == len(parts)
		for i := range want {
			same = same && (strings.HasPrefix(want[i], "{") || want[i] == parts[i])
		}
		if op, there := methods[strings.ToLower(method)]; same && there {
			if r, there := op.Responses[fmt.Sprint(status)]; there {
				return r.Content, true
			}
			return op.Responses["default"].Content, true
		}
	}
	return nil, false
}

// conforms holds an answer against the description. A field that it does not have is a mistake.
func (c *client) conforms(method, path string, a answer) {
	c.t.Helper()
	d := describe(c.t)
	content, ok := d.find(method, path, a.status)
	if !ok {
		if a.status < 400 && a.status != http.StatusNoContent {
			c.t.Errorf("%s %s is not described and answers %d", method, path, a.status)
		}
		return
	}
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	m, ok := content[kind]
	if !ok && strings.HasPrefix(kind, "image/") {
		m, ok = content["image/*"]
	}
	if !ok {
		c.t.Errorf("%s %s: %d answers %s, which is not described", method, path, a.status, kind)
		return
	}
	if kind == "text/event-stream" {
		for _, e := range events(a.body) {
			described, ok := m.Events[e.name]
			if !ok {
				c.t.Errorf("%s: the event %q is not described", path, e.name)
				continue
			}
			d.check(c.t, described.Schema.Ref, e.data)
		}
	} else if m.Schema.Ref != "" {
		d.check(c.t, m.Schema.Ref, a.body)
	}
}

func (d *description) check(t *testing.T, ref, data string) {
	t.Helper()
	r := d.resolved[strings.TrimPrefix(ref, "#/components/schemas/")]
	if r == nil {
		t.Errorf("there is no schema %s", ref)
		return
	}
	var v any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Errorf("%s: %v", data, err)
		return
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("not as described (%s): %v\n%s", ref, err, data)
	}
}

// closed makes a field that is not described a mistake.
func closed(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && s.Properties != nil {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, p := range s.Properties {
		closed(p)
	}
	closed(s.Items)
}

// sent is an event of a stream.
type sent struct{ id, name, data string }

func events(body string) (list []sent) {
	for block := range strings.SplitSeq(body, "\n\n") {
		var e sent
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if v, ok := strings.CutPrefix(line, "id: "); ok {
				e.id = v
			} else if v, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = v
			} else if v, ok := strings.CutPrefix(line, "data: "); ok {
				e.data = v
			}
		}
		if e.name != "" {
			list = append(list, e)
		}
	}
	return list
}

// lender lends what a function gives.
type lender func(context.Context) (*rag.Engine, func(), error)

func (l lender) Lend(ctx context.Context) (*rag.Engine, func(), error) { return l(ctx) }
