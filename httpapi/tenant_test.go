package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/httpapi"
	"github.com/seed-d8745b77/rag/internal/probe"
)

// request is one try of a tenant to see what another has.
func request(p *probe.Prober) (method, path, body string) {
	q := map[string]any{
		"query": p.Question(), "filter": p.Filter(), "top_k": p.N(30) - 2, "mode": p.Pick("", "hybrid", "dense", "sparse", "sparse"), "collection": p.Collection(), "as_of": p.Day(),
	}
	name := url.QueryEscape(p.Name())
	in := "collection=" + url.QueryEscape(p.Collection())
	post := func(path string, more ...string) (string, string, string) {
		if len(more) > 0 {
			q[p.Pick(more...)] = p.Name()
		}
		b, _ := json.Marshal(q) // texts and numbers
		return "POST", path, string(b)
	}
	switch p.N(14) {
	case 0, 1, 2:
		return post("/v1/search")
	case 3, 4:
		return post("/v1/ask")
	case 5, 6:
		return post("/v1/explain", "chunk_id", "uri", "text")
	case 7:
		return "GET", "/v1/documents?" + in + "&prefix=" + p.Pick("", "mem:docs/b", name) + "&limit=" + p.Pick("1", "500", "0"), ""
	case 8:
		return "GET", "/v1/documents?" + in + "&cursor=" + p.Pick(base64.RawURLEncoding.EncodeToString([]byte(p.Name())), "!", "AA"), ""
	case 9:
		return "GET", p.Pick("/v1/document", "/v1/document/chunks") + "?" + in + "&uri=" + name, ""
	case 10:
		return "GET", "/v1/" + p.Pick("chunks", "pictures", "jobs") + "/" + url.PathEscape(p.Name()) + p.Pick("", "", "/events") + "?" + in, ""
	case 11:
		return "DELETE", "/v1/document?" + in + "&uri=" + name, ""
	case 12:
		return p.Pick("GET", "POST"), p.Pick("/v1/collections", "/v1/jobs", "/metrics", "/v1/jobs/x/events", "/v1/jobs/x/cancel", "/v1/ingest", "/openapi.json", "/readyz"), p.Pick("", "{}", `{"path":"/"}`)
	}
	return "POST", "/v1/ask", `{"query":` + p.Pick(`"`+strings.Repeat("blue ", 900)+`"`, `5`, `"night"`) + `,"filter":` + p.Pick(`"tenant = blue"`, `7`, `""`) + `}`
}

// marked is an engine with the documents of two tenants, and teaches a prober the names of the second's.
func marked(t *testing.T, p *probe.Prober) *rag.Engine {
	t.Helper()
	shared, hidden := probe.Documents()
	eng := engine(t, shared)
	for name, text := range hidden {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: probe.Hidden(), Sources: []rag.Sources{rag.Bytes("mem:hidden/"+name, []byte(text))}}); err != nil {
			t.Fatal(err)
		}
	}
	pictures := 0
	for _, collection := range []string{"default", probe.Hidden()} {
		for k, err := range eng.Chunks(t.Context(), collection, rag.Eq("tenant", "blue")) {
			if err != nil {
				t.Fatal(err)
			}
			p.Learn(k.ID, k.DocID, k.URI)
			for _, m := range k.Images {
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

// Nothing of another tenant's documents is shown, whatever is asked: in bodies, heads, streams, pictures and errors.
func TestTenantsStayApart(t *testing.T) {
	p, dir := probe.New(t), t.TempDir()
	eng := marked(t, p)
	file := filepath.Join(dir, probe.Mark("job")+".md")
	if err := os.WriteFile(file, []byte("---\ntenant: green\n---\nNothing of note.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Tokens: tokens(t), Write: true, Roots: []string{dir}, Quota: httpapi.Quota{PerMinute: 100_000}})
	red, all := c.as(redToken), c.as(allToken)
	for _, path := range []string{"/v1/search", "/v1/ask"} { // leaves traces
		all.post(path, `{"query":"where is `+probe.Mark("question")+` kept"}`).wants(t, 200)
	}
	p.Learn(all.post("/v1/ingest", `{"path":"`+file+`"}`).wants(t, 202).get("job_id"))
	found := 0
	for range probe.Requests {
		method, path, body := request(p)
		a := red.do(method, path, body, "Accept", p.Pick("", "text/event-stream"))
		if leak := p.Leak(path+body, a.body+fmt.Sprint(a.header), []byte(a.body)); leak != "" {
			t.Fatalf("%s %s %s: %d tells %q: %s", method, path, body, a.status, leak, a.body)
		}
		if strings.Contains(a.body, probe.Own) && !strings.Contains(body, probe.Own) {
			found++
		}
		if a.status >= 500 {
			t.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
		}
	}
	if found < 20 {
		t.Errorf("only %d answers have the tenant's own passages: the test shows little", found)
	}
	if l := all.get("/v1/collections").wants(t, 200); l.get("collections.0.documents") != "1" || l.get("collections.1.documents") != "5" {
		t.Errorf("something was deleted: %s", l.body)
	}
}

// What another tenant has looks like what is not there: status, head and body are the same but for the name that was sent.
func TestWhatIsHiddenIsMissing(t *testing.T) {
	p := probe.New(t)
	eng := marked(t, p)
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Tokens: tokens(t), Write: true})
	red := c.as(redToken)
	var chunk rag.Chunk
	for k, err := range eng.Chunks(t.Context(), "default", rag.Eq("tenant", "blue")) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk = k; len(k.Images) > 0 {
			break
		}
	}
	for _, tt := range []struct{ method, path, body, hidden string }{
		{"GET", "/v1/document?uri=NAME", "", chunk.URI},
		{"DELETE", "/v1/document?uri=NAME", "", chunk.URI},
		{"GET", "/v1/document/chunks?uri=NAME", "", chunk.URI},
		{"GET", "/v1/documents?prefix=NAME", "", chunk.URI},
		{"GET", "/v1/chunks/NAME", "", chunk.ID},
		{"GET", "/v1/pictures/NAME", "", chunk.Images[0].ID},
		{"POST", "/v1/explain", `{"query":"heron","chunk_id":"NAME"}`, chunk.ID},
		{"POST", "/v1/explain", `{"query":"heron","uri":"NAME"}`, chunk.URI},
		{"POST", "/v1/explain", `{"query":"heron","text":"NAME"}`, "It sleeps below the old oak"},
		{"POST", "/v1/search", `{"query":"heron","collection":"NAME"}`, probe.Hidden()},
		{"POST", "/v1/ask", `{"query":"heron","collection":"NAME"}`, probe.Hidden()},
		{"POST", "/v1/search", `{"query":"heron","filter":"owner = NAME"}`, probe.Mark("value")},
		{"POST", "/v1/search", `{"query":"heron","filter":"NAME = 7"}`, probe.Mark("field")},
		{"GET", "/v1/documents?collection=NAME", "", probe.Hidden()},
		{"DELETE", "/v1/document?uri=x&collection=NAME", "", probe.Hidden()},
	} {
		ask := func(name string) string {
			a := red.do(tt.method, strings.ReplaceAll(tt.path, "NAME", url.QueryEscape(name)), strings.ReplaceAll(tt.body, "NAME", name))
			a.header.Del("Date")
			text := fmt.Sprint(a.status, a.header, a.body)
			return passing.ReplaceAllString(strings.ReplaceAll(text, name, "NAME"), "")
		}
		missing := strings.Map(func(r rune) rune { // of the same length
			if r >= 'a' && r <= 'y' {
				return r + 1
			}
			return r
		}, tt.hidden)
		if diff := cmp.Diff(ask(missing), ask(tt.hidden)); diff != "" {
			t.Errorf("%s %s %s tells whether %q is there (-missing +hidden):\n%s", tt.method, tt.path, tt.body, tt.hidden, diff)
		}
	}
}

// passing is what differs from one call to the next.
var passing = regexp.MustCompile(`"(trace_id|elapsed_ms|total_ms|ms)":("[^"]*"|[0-9.e-]+)|X-Request-Id:\[[^]]*\]|Content-Length:\[[0-9]+\]`)
