package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/httpapi"
)

// prober makes requests by which somebody tries to see what another has.
type prober struct {
	r       *rand.Rand
	secrets []string // names of what the other has: chunks, documents, pictures, URIs
}

func (p *prober) pick(from ...string) string { return from[p.r.IntN(len(from))] }

// name is a name of the other's, or one that is a little off, or none.
func (p *prober) name() string {
	s := p.secrets[p.r.IntN(len(p.secrets))]
	switch p.r.IntN(4) {
	case 0:
		return s[:p.r.IntN(len(s))]
	case 1:
		return s + p.pick("#1", "/", "%00", "'", "/../x")
	}
	return s
}

func (p *prober) filter() string {
	return p.pick(
		`tenant = blue`, `not tenant = red`, `tenant = red or tenant = blue`, `not (tenant = red and tenant = blue)`, `tenant >= "a"`, `tenant in (blue, red)`,
		`uri = "mem:docs/blue.md"`, `title = "Badgers"`, `everything`, `tenant = `, `)`, `tenant exists`, ``, `doc_id = "`+p.name()+`"`,
	)
}

// request is one try.
func (p *prober) request() (method, path, body string) {
	q := map[string]any{
		"query":  p.pick("badger worms night", "den below the oak", "sett drawing", `"worms at night"`, "blue", p.name(), "x"),
		"filter": p.filter(), "top_k": p.r.IntN(30) - 2, "mode": p.pick("", "hybrid", "dense", "sparse", "sparse"),
		"collection": p.pick("", "default", "defaul", "private", "privat"), "as_of": p.pick("", "", "", "2024-01-01", "x"),
	}
	escaped := url.QueryEscape(p.name())
	in := "collection=" + p.pick("", "default", "private", "none")
	post := func(path string, more ...string) (string, string, string) {
		if len(more) > 0 {
			q[p.pick(more...)] = p.name()
		}
		b, _ := json.Marshal(q)
		return "POST", path, string(b)
	}
	switch p.r.IntN(14) {
	case 0, 1, 2:
		return post("/v1/search")
	case 3, 4:
		return post("/v1/ask")
	case 5, 6:
		return post("/v1/explain", "chunk_id", "uri", "text")
	case 7:
		return "GET", "/v1/documents?" + in + "&prefix=" + p.pick("", "mem:docs/b", escaped) + "&limit=" + p.pick("1", "500", "0"), ""
	case 8:
		return "GET", "/v1/documents?" + in + "&cursor=" + p.pick(base64.RawURLEncoding.EncodeToString([]byte(p.name())), "!", "AA"), ""
	case 9:
		return "GET", p.pick("/v1/document", "/v1/document/chunks") + "?" + in + "&uri=" + escaped, ""
	case 10:
		return "GET", "/v1/" + p.pick("chunks", "pictures", "jobs") + "/" + url.PathEscape(p.name()) + "?" + in, ""
	case 11:
		return "DELETE", "/v1/document?" + in + "&uri=" + escaped, ""
	case 12:
		return p.pick("GET", "POST"), p.pick("/v1/collections", "/v1/jobs", "/metrics", "/v1/jobs/x/events", "/v1/jobs/x/cancel", "/v1/ingest"), p.pick("", "{}", `{"path":"/"}`)
	}
	return "POST", "/v1/ask", `{"query":` + p.pick(`"`+strings.Repeat("blue ", 900)+`"`, `5`, `"night"`) + `,"filter":` + p.pick(`"tenant = blue"`, `7`, `""`) + `}`
}

// Nothing of another tenant's documents is shown, whatever is asked.
func TestTenantsStayApart(t *testing.T) {
	eng := engine(t, handbook)
	private := rag.Bytes("mem:private/blue.md", []byte("---\ntenant: blue\n---\n# Ledger\n\nThe treasure of blue lies in the cellar.\n"))
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: "private", Sources: []rag.Sources{private}}); err != nil {
		t.Fatal(err)
	}
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Tokens: tokens(t), Write: true, Roots: []string{t.TempDir()}, Quota: httpapi.Quota{PerMinute: 100_000}})
	red := c.as(redToken)
	p := &prober{r: rand.New(rand.NewPCG(1, 2))}
	secrets := []string{"worms", "Badger", "badger", "old oak", "drawing", "Sett", "blue-sett", "Ledger", "treasure", "cellar", "private", `"blue"`, string(dot(t, "blue-sett.png"))}
	for _, collection := range []string{"default", "private"} {
		for k, err := range eng.Chunks(t.Context(), collection, rag.Eq("tenant", "blue")) {
			if err != nil {
				t.Fatal(err)
			}
			p.secrets = append(p.secrets, k.ID, k.DocID, k.URI, "rag://default/"+k.DocID)
			secrets = append(secrets, k.ID, k.DocID, k.URI)
			for _, m := range k.Images {
				p.secrets = append(p.secrets, m.ID)
				secrets = append(secrets, m.ID)
			}
		}
	}
	if len(p.secrets) < 17 { // four passages and a picture
		t.Fatalf("only %d secrets", len(p.secrets))
	}
	found := 0
	for range 1000 {
		method, path, body := p.request()
		a := red.do(method, path, body, "Accept", p.pick("", "text/event-stream"))
		told := a.body + fmt.Sprint(a.header)
		for _, s := range secrets {
			if strings.Contains(told, s) && !mentions(path+body, s) {
				t.Fatalf("%s %s %s: %d tells %q: %s", method, path, body, a.status, s, told)
			}
		}
		if strings.Contains(told, "heron of red") {
			found++
		}
		if a.status >= 500 {
			t.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
		}
	}
	if found < 20 {
		t.Errorf("only %d answers have the tenant's own passage: the test tells nothing", found)
	}
	if l := c.as(allToken).get("/v1/collections").wants(t, 200); l.get("collections.0.documents") != "3" || l.get("collections.1.documents") != "1" {
		t.Errorf("something was deleted: %s", l.body)
	}
}

// mentions reports whether a request has the text itself, so that an answer that repeats it tells nothing.
func mentions(request, text string) bool {
	plain, err := url.QueryUnescape(request)
	return strings.Contains(request, text) || err == nil && strings.Contains(plain, text)
}

// What another tenant has looks like what is not there.
func TestWhatIsHiddenIsMissing(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{Tokens: tokens(t), Write: true})
	red := c.as(redToken)
	same := func(method, hidden, missing string) {
		t.Helper()
		a, b := red.do(method, hidden, ""), red.do(method, missing, "")
		if a.status != 404 || b.status != 404 || strings.ReplaceAll(a.body, "blue", "NAME") != strings.ReplaceAll(b.body, "gone", "NAME") {
			t.Errorf("%s is %d %s\nand what is not there %d %s", hidden, a.status, a.body, b.status, b.body)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		same(method, "/v1/document?uri=mem:docs/blue.md", "/v1/document?uri=mem:docs/gone.md")
	}
	same("GET", "/v1/document/chunks?uri=mem:docs/blue.md", "/v1/document/chunks?uri=mem:docs/gone.md")
}
