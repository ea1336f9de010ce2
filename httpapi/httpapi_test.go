package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/httpapi"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestReading(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{})
	found := c.post("/v1/search", `{"query":"what does the badger eat","top_k":1}`).wants(t, 200)
	if found.get("hits.0.uri") != "mem:docs/blue.md" {
		t.Errorf("found %s", found.body)
	}
	if a := c.post("/v1/ask", `{"query":"what does the badger of blue eat at night?","turns":[{"role":"user","text":"hello"}]}`).wants(t, 200); !strings.Contains(a.get("answer"), "worms") {
		t.Errorf("answer %s", a.body)
	}
	if x := c.post("/v1/explain", `{"query":"badger","chunk_id":"`+found.get("hits.0.chunk_id")+`"}`).wants(t, 200); x.get("verdict") == "" {
		t.Errorf("explanation %s", x.body)
	}
	if l := c.get("/v1/collections").wants(t, 200); l.get("collections.0.documents") != "3" {
		t.Errorf("collections %s", l.body)
	}
	first := c.get("/v1/documents?limit=2").wants(t, 200)
	second := c.get("/v1/documents?limit=2&cursor="+first.get("next")).wants(t, 200)
	if first.get("documents.1.uri") != "mem:docs/blue.md" || second.get("documents.0.uri") != "mem:docs/red.md" || second.get("next") != "" {
		t.Errorf("pages %s %s", first.body, second.body)
	}
	at := "?uri=" + url.QueryEscape("mem:docs/blue-sett.md")
	d := c.get("/v1/document"+at).wants(t, 200)
	if !strings.Contains(d.get("text"), "drawing") {
		t.Errorf("document %s", d.body)
	}
	if p := c.get("/v1/pictures/"+d.get("pictures.0.id")).wants(t, 200); p.header.Get("Content-Type") != "image/png" {
		t.Errorf("picture %v", p.header)
	}
	at = "?uri=" + url.QueryEscape("mem:docs/blue.md")
	chunks := c.get("/v1/document/chunks"+at+"&limit=1").wants(t, 200)
	if next := c.get("/v1/document/chunks"+at+"&limit=1&cursor="+chunks.get("next")).wants(t, 200); next.get("chunks.0.ordinal") != "1" {
		t.Errorf("chunks %s %s", chunks.body, next.body)
	}
	if one := c.get("/v1/chunks/"+chunks.get("chunks.0.chunk_id")).wants(t, 200); one.get("text") == "" {
		t.Errorf("chunk %s", one.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/v1/jobs"} {
		c.get(path).wants(t, 200)
	}
}

func TestErrors(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{MaxBody: 2000, Quota: httpapi.Quota{TopK: 20}})
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		code, field              string
	}{
		{"no JSON", "POST", "/v1/search", `{bad`, 400, "bad_request", ""},
		{"no body", "POST", "/v1/search", ``, 400, "bad_request", ""},
		{"two objects", "POST", "/v1/search", `{"query":"x"}{}`, 400, "bad_request", ""},
		{"another type", "POST", "/v1/search", `{"query":"x","top_k":"5"}`, 400, "bad_request", "top_k"},
		{"an unknown field", "POST", "/v1/search", `{"query":"x","topk":5}`, 400, "bad_request", "topk"},
		{"no query", "POST", "/v1/search", `{}`, 422, "invalid", "query"},
		{"a long query", "POST", "/v1/ask", `{"query":"` + strings.Repeat("x", 1990) + `"}`, 413, "too_large", ""},
		{"too many", "POST", "/v1/search", `{"query":"x","top_k":21}`, 422, "invalid", "top_k"},
		{"a mode", "POST", "/v1/search", `{"query":"x","mode":"magic"}`, 422, "invalid", "mode"},
		{"a filter", "POST", "/v1/search", `{"query":"x","filter":"tenant ="}`, 422, "invalid", "filter"},
		{"a day", "POST", "/v1/search", `{"query":"x","as_of":"soon"}`, 422, "invalid", "as_of"},
		{"a role", "POST", "/v1/ask", `{"query":"x","turns":[{"role":"system","text":"x"}]}`, 422, "invalid", "turns.role"},
		{"a collection", "POST", "/v1/search", `{"query":"x","collection":"none"}`, 404, "not_found", ""},
		{"a passage", "POST", "/v1/explain", `{"query":"x","chunk_id":"none"}`, 404, "not_found", ""},
		{"nothing to explain", "POST", "/v1/explain", `{"query":"x"}`, 422, "invalid", "chunk_id"},
		{"a document", "GET", "/v1/document?uri=none", "", 404, "not_found", ""},
		{"no document", "GET", "/v1/document", "", 422, "invalid", "uri"},
		{"a cursor", "GET", "/v1/documents?cursor=%21", "", 422, "invalid", "cursor"},
		{"a limit", "GET", "/v1/documents?limit=1x", "", 422, "invalid", "limit"},
		{"a chunk", "GET", "/v1/chunks/none", "", 404, "not_found", ""},
		{"a picture", "GET", "/v1/pictures/none", "", 404, "not_found", ""},
		{"a job", "GET", "/v1/jobs/none", "", 404, "not_found", ""},
		{"events of a job", "GET", "/v1/jobs/none/events", "", 404, "not_found", ""},
		{"a server that reads", "POST", "/v1/ingest", `{"path":"x"}`, 403, "forbidden", ""},
		{"a server that reads deletes", "DELETE", "/v1/document?uri=mem:docs/red.md", "", 403, "forbidden", ""},
		{"no path", "GET", "/v2", "", 404, "not_found", ""},
		{"a method", "GET", "/v1/search", "", 405, "method_not_allowed", ""},
	} {
		a := c.do(tt.method, tt.path, tt.body)
		if a.status != tt.status || a.get("error.code") != tt.code || a.get("error.field") != tt.field || a.get("error.message") == "" {
			t.Errorf("%s: %d %s; want %d %s %s", tt.name, a.status, a.body, tt.status, tt.code, tt.field)
		}
	}
	if a := c.do("POST", "/v1/search", `x`, "Content-Type", "text/plain"); a.status != 400 {
		t.Errorf("text: %d", a.status)
	}
}

// Whatever happens inside, a client gets an ID and the log the rest.
func TestPanicsAndUnknownErrorsAreNotTold(t *testing.T) {
	var log bytes.Buffer
	var fails func() error
	c, _ := serve(t, lender(func(context.Context) (*rag.Engine, func(), error) {
		return nil, nil, fails()
	}), httpapi.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	fails = func() error { panic("the password is swordfish") }
	a := c.post("/v1/search", `{"query":"x"}`).wants(t, 500)
	id := strings.Fields(a.get("error.message"))[2]
	if strings.Contains(a.body, "swordfish") || !strings.Contains(log.String(), "swordfish") || !strings.Contains(log.String(), strings.TrimSuffix(id, ":")) {
		t.Errorf("told %s\nlogged %s", a.body, log.String())
	}
	fails = func() error { return rag.ErrLocked }
	c.post("/v1/search", `{"query":"x"}`).wants(t, 409)
	fails = func() error { return errors.New("no disk") }
	if a := c.get("/readyz").wants(t, 503); strings.Contains(a.body, "disk") {
		t.Errorf("who needs no token is told %s", a.body)
	}
	c.get("/healthz").wants(t, 200)
}

func TestAnswersAsAStream(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{})
	whole := c.post("/v1/ask", `{"query":"what does the badger of blue eat at night?"}`).wants(t, 200)
	a := c.do("POST", "/v1/ask", `{"query":"what does the badger of blue eat at night?"}`, "Accept", "text/event-stream").wants(t, 200)
	var names, text []string
	for _, e := range events(a.body) {
		names = append(names, e.name)
		if e.name == "text" {
			text = append(text, answer{body: e.data}.get("text"))
		}
		if e.name == "answer" && (answer{body: e.data}).get("answer") != whole.get("answer") {
			t.Errorf("the stream ends with %s; without it %s", e.data, whole.body)
		}
	}
	if got := strings.Join(names, " "); !strings.HasPrefix(got, "stage stage") || !strings.HasSuffix(got, "answer end") || strings.Join(text, "") != whole.get("answer") {
		t.Errorf("events %s, text %q; want %q", got, text, whole.get("answer"))
	}
	a = c.do("POST", "/v1/ask", `{"query":"x","collection":"none"}`, "Accept", "text/event-stream").wants(t, 200)
	if list := events(a.body); len(list) == 0 || list[len(list)-1].name != "error" || !strings.Contains(a.body, "not_found") {
		t.Errorf("a failure gives %s", a.body)
	}
}

func TestIngestByPath(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"one.md": "# One\n\nThe otter swims.\n", "two.md": "# Two\n\nThe owl flies.\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	eng := engine(t, handbook)
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Write: true, Roots: []string{root}})
	begun := c.post("/v1/ingest", `{"path":"."}`).wants(t, 202)
	at := begun.header.Get("Location")
	if at != "/v1/jobs/"+begun.get("job_id") {
		t.Errorf("location %q", at)
	}
	stream := c.get(at+"/events").wants(t, 200)
	list := events(stream.body)
	if n := len(list); n < 2 || list[n-1].name != "end" || !strings.Contains(list[n-2].data, `"added":2`) {
		t.Fatalf("events %s", stream.body)
	}
	again := c.do("GET", at+"/events", "", "Last-Event-ID", list[len(list)-2].id)
	if l := events(again.body); len(l) != 2 || strings.Contains(l[0].data, "one.md") {
		t.Errorf("a reader that has seen all is sent %s", again.body)
	}
	j := c.get(at).wants(t, 200)
	if j.get("state") != "done" || j.get("counts.total") != "2" || len(strings.Split(j.get("items"), "map[")) != 3 {
		t.Errorf("job %s", j.body)
	}
	if a := c.get(at+"?after="+j.get("seq")).wants(t, 200); a.get("items") != "[]" {
		t.Errorf("behind the last change: %s", a.body)
	}
	c.post("/v1/ingest", `{"path":"`+filepath.Base(root)+`","dry_run":true}`).wants(t, 202)
	if a := c.post("/v1/ingest", `{"path":"none"}`).wants(t, 422); !strings.Contains(a.get("error.message"), "may be read: "+filepath.Base(root)+";") {
		t.Errorf("which folders may be read is not said: %s", a.body)
	}
	c.post("/v1/search", `{"query":"otter swims"}`).wants(t, 200)
	uri := rag.FileURI(filepath.Join(resolved(t, root), "one.md"))
	c.do("DELETE", "/v1/document?uri="+url.QueryEscape(uri), "").wants(t, 200)
	c.do("DELETE", "/v1/document?uri="+url.QueryEscape(uri), "").wants(t, 404)
	c.do("DELETE", "/v1/document?uri=mem:docs/", "").wants(t, 422)
	for body, field := range map[string]string{
		`{"path":"/etc/passwd"}`: "path", `{"path":"../x"}`: "path", `{}`: "path", `{"path":".","manifest":"one.md"}`: "domain", `{"path":".","domain":"nowhere"}`: "domain",
		`{"path":".","collection":"` + strings.Repeat("x", 81) + `"}`: "collection",
	} {
		if a := c.post("/v1/ingest", body).wants(t, 422); a.get("error.field") != field {
			t.Errorf("%s: %s", body, a.body)
		}
	}
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// The collection remembers its domain: whoever asks, and whatever ingests next, follows it.
func TestTheDomainIsRemembered(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old.md", "# Old\n\nThe tuition fee is 90.")
	write("new.md", "# New\n\nThe tuition fee is 98.")
	write("manifest.jsonl", `{"document_path":"old.md","until":"2020-03-01"}`+"\n"+`{"document_path":"new.md","until":"2999-12-31"}`)
	d, err := domain.Parse("fees.yaml", []byte("name: fees\nfields: {until: {type: date}}\nvalidity: {until: until, time_zone: Asia/Shanghai}\n"))
	if err != nil {
		t.Fatal(err)
	}
	eng := engine(t, nil)
	ingest := func(c *client, body string) answer {
		t.Helper()
		at := c.post("/v1/ingest", body).wants(t, 202).header.Get("Location")
		c.get(at+"/events").wants(t, 200) // which ends with the job
		return c.get(at).wants(t, 200)
	}
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Write: true, Roots: []string{root}, Domains: []*domain.Domain{d}})
	if j := ingest(c, `{"path":`+strconv.Quote(root)+`,"manifest":`+strconv.Quote(filepath.Join(root, "manifest.jsonl"))+`,"domain":"fees"}`); j.get("state") != "done" {
		t.Fatalf("%s", j.body)
	}

	c, _ = serve(t, access.Fixed(eng), httpapi.Options{Write: true, Roots: []string{root}}) // one that knows of no domain
	finds := func(more, want string) {
		t.Helper()
		a := c.post("/v1/search", `{"query":"tuition fee"`+more+`}`).wants(t, 200)
		if got := strings.Contains(a.body, "old.md"); got != (want == "both") || !strings.Contains(a.body, "new.md") {
			t.Errorf("%s: want %s: %s", more, want, a.body)
		}
	}
	finds("", "new")
	finds(`,"as_of":"2020-03-01"`, "both")
	finds(`,"as_of":"2020-03-02"`, "new") // there it is this day at 16:00 UTC the day before
	if j := ingest(c, `{"path":`+strconv.Quote(root)+`}`); j.get("state") != "done" || !strings.Contains(j.body, `"unchanged":2`) {
		t.Errorf("%s", j.body)
	}
	finds("", "new")
	c.post("/v1/ingest", `{"path":`+strconv.Quote(root)+`,"domain":"none"}`).wants(t, 422)
	c.post("/v1/ingest", `{"path":`+strconv.Quote(root)+`,"domain":"fees","end_domain":true}`).wants(t, 422)
	finds("", "new") // it is nobody's to end in passing
	if j := ingest(c, `{"path":`+strconv.Quote(root)+`,"end_domain":true}`); j.get("state") != "done" {
		t.Errorf("%s", j.body)
	}
	finds("", "both")
}

// form is an upload.
func form(t *testing.T, fields map[string]string, files ...string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for k, v := range fields {
		_ = w.WriteField(k, v)
	}
	for i := 0; i+1 < len(files); i += 2 {
		part, err := w.CreateFormFile("file", files[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(files[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func TestIngestOfUploads(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c, s := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{Write: true, MaxUpload: 4000, Quota: httpapi.Quota{IngestBytes: 200}})
	upload := func(fields map[string]string, files ...string) answer {
		body, kind := form(t, fields, files...)
		return c.do("POST", "/v1/ingest", body, "Content-Type", kind)
	}
	a := upload(map[string]string{"collection": "inbox"}, "a/b.md", "# B\n\nThe stoat runs.\n", "c.md", "# C\n\nThe hare waits.\n").wants(t, 202)
	c.get(a.header.Get("Location") + "/events")
	if d := c.get("/v1/documents?collection=inbox").wants(t, 200); d.get("documents.0.uri") != "upload:///a/b.md" || d.get("documents.1.uri") != "upload:///c.md" {
		t.Errorf("documents %s", d.body)
	}
	for name, tt := range map[string]struct {
		fields map[string]string
		file   string
		status int
	}{
		"outside": {nil, "../x.md", 422}, "hidden": {nil, ".x.md", 422}, "a device": {nil, "con.md", 422},
		"a field": {map[string]string{"path": "/etc"}, "x.md", 400}, "a flag": {map[string]string{"force": "perhaps"}, "x.md", 422},
	} {
		if name == "outside" { // the library shortens a name to its last element
			continue
		}
		if a := upload(tt.fields, tt.file, "x"); a.status != tt.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	upload(nil).wants(t, 422)
	upload(nil, "x.md", strings.Repeat("x", 5000)).wants(t, 413)
	c.do("POST", "/v1/ingest", "--b\r\nContent-Dis", "Content-Type", "multipart/form-data; boundary=b").wants(t, 400)
	a = upload(nil, "big.md", strings.Repeat("word ", 50)).wants(t, 202)
	if e := c.get(a.header.Get("Location") + "/events"); !strings.Contains(e.body, "bytes a day") {
		t.Errorf("beyond the day's allowance: %s", e.body)
	}
	s.Close()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("uploads stay: %v, %v", left, err)
	}
}

const (
	redToken = "red-red-red-red-red"
	allToken = "all-all-all-all-all"
)

func tokens(t *testing.T) []access.Token {
	t.Helper()
	list, err := access.ParseTokens([]byte(`[{"token":"` + redToken + `","name":"red","filter":"tenant = red"},{"token":"` + allToken + `","name":"all"}]`))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhoMayDoWhat(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{Tokens: tokens(t), Write: true, Roots: []string{t.TempDir()}})
	for _, path := range []string{"/v1/collections", "/v1/documents", "/v1/jobs", "/metrics"} {
		for _, token := range []string{"", "red-red-red-red-rex"} {
			if a := c.as(token).get(path); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %q: %d", path, token, a.status)
			}
		}
	}
	red, all := c.as(redToken), c.as(allToken)
	red.get("/metrics").wants(t, 403)
	red.post("/v1/ingest", `{"path":"."}`).wants(t, 403)
	all.get("/metrics").wants(t, 200)
	job := all.post("/v1/ingest", `{"path":"."}`).wants(t, 202).header.Get("Location")
	red.get(job).wants(t, 404)
	red.post(job+"/cancel", "").wants(t, 404)
	all.post(job+"/cancel", "").wants(t, 202)
	red.do("DELETE", "/v1/document?uri=mem:docs/blue.md", "").wants(t, 404)
	red.do("DELETE", "/v1/document?uri=mem:docs/red.md", "").wants(t, 200)
	if l := all.get("/v1/collections").wants(t, 200); l.get("collections.0.documents") != "2" {
		t.Errorf("after the delete: %s", l.body)
	}
}

func TestForeignPages(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{Origins: []string{"https://app.example"}, Hosts: []string{"rag.example"}})
	for name, tt := range map[string]struct {
		header []string
		status int
	}{
		"another page": {[]string{"Origin", "https://evil.example"}, 403}, "rebinding": {[]string{"Host", "evil.example"}, 403},
		"a page that may": {[]string{"Origin", "https://app.example"}, 200}, "a name that is given": {[]string{"Host", "rag.example"}, 200},
	} {
		a := c.do("GET", "/v1/collections", "", tt.header...)
		if a.status != tt.status {
			t.Errorf("%s: %d", name, a.status)
		}
		if flag := "--" + strings.ToLower(tt.header[0]); tt.status == 403 && !strings.Contains(a.body, flag) {
			t.Errorf("%s: the refusal does not name %s: %s", name, flag, a.body)
		}
	}
	pre := c.do("OPTIONS", "/v1/search", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if pre.status != 204 || pre.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("preflight: %d %v", pre.status, pre.header)
	}
	closed, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{})
	if a := closed.do("GET", "/healthz", "", "Origin", closed.url); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("CORS without origins: %v", a.header)
	}
}

// waiting is an engine whose questions wait until they are let go.
func waiting(t *testing.T) (eng *rag.Engine, arrived chan struct{}, letGo func()) {
	arrived, gone := make(chan struct{}, 100), make(chan struct{})
	eng = engine(t, handbook, rag.WithEmbedder(&ragtest.HashEmbedder{Before: func(ctx context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			arrived <- struct{}{}
			select {
			case <-gone:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}}))
	return eng, arrived, sync.OnceFunc(func() { close(gone) })
}

func TestBackPressure(t *testing.T) {
	eng, arrived, letGo := waiting(t)
	defer letGo()
	c, s := serve(t, access.Fixed(eng), httpapi.Options{Parallel: 1, Queue: 1, Quota: httpapi.Quota{Concurrent: 3}})
	answers := make(chan answer, 2)
	go func() { answers <- c.post("/v1/search", `{"query":"badger"}`) }()
	<-arrived
	go func() { answers <- c.post("/v1/search", `{"query":"badger"}`) }()
	for !strings.Contains(c.get("/metrics").wants(t, 200).body, "rag_http_requests_queued 1") { // until it waits
	}
	a := c.post("/v1/search", `{"query":"badger"}`).wants(t, 503)
	if a.get("error.code") != "busy" || a.header.Get("Retry-After") != "1" {
		t.Errorf("a full queue: %s %v", a.body, a.header)
	}
	s.Drain()
	c.get("/readyz").wants(t, 503)
	if a := c.get("/v1/collections").wants(t, 503); a.get("error.code") != "ending" {
		t.Errorf("while it drains: %s", a.body)
	}
	letGo()
	for range 2 { // what was under way is answered
		(<-answers).wants(t, 200)
	}
}

func TestQuotas(t *testing.T) {
	eng, arrived, letGo := waiting(t)
	defer letGo()
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Tokens: tokens(t), Quota: httpapi.Quota{PerMinute: 4, Concurrent: 1}})
	red := c.as(redToken)
	first := make(chan answer)
	go func() { first <- red.post("/v1/search", `{"query":"heron"}`) }()
	<-arrived
	if a := red.get("/v1/collections").wants(t, 429); a.get("error.code") != "too_many_concurrent" || a.header.Get("Retry-After") == "" {
		t.Errorf("%s", a.body)
	}
	c.as(allToken).get("/v1/collections").wants(t, 200) // another tenant's allowance is its own
	letGo()
	(<-first).wants(t, 200)
	for range 2 {
		red.get("/v1/collections").wants(t, 200)
	}
	if a := red.get("/v1/collections").wants(t, 429); a.get("error.code") != "rate_limited" || a.header.Get("Retry-After") == "" {
		t.Errorf("%s", a.body)
	}
	if _, err := httpapi.New(access.Fixed(eng), httpapi.Options{Quota: httpapi.Quota{TopK: -1}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a negative quota: %v", err)
	}
}

func TestBudget(t *testing.T) {
	eng, _, letGo := waiting(t)
	defer letGo()
	c, _ := serve(t, access.Fixed(eng), httpapi.Options{Budget: time.Millisecond})
	if a := c.post("/v1/search", `{"query":"heron","mode":"dense"}`); a.status != 504 && a.status != 503 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A job that does not end is cancelled when the server closes, and its stream ends.
func TestCloseEndsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := httpapi.New(lender(func(ctx context.Context) (*rag.Engine, func(), error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}), httpapi.Options{Write: true, Roots: []string{t.TempDir()}, JobGrace: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(method, path, body string) *recorder {
			r, _ := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
			w := &recorder{head: http.Header{}}
			s.ServeHTTP(w, r)
			return w
		}
		begun := ask("POST", "/v1/ingest", `{"path":"."}`)
		if begun.status != 202 {
			t.Fatalf("%d %s", begun.status, begun.body.String())
		}
		var stream *recorder
		ended := make(chan struct{})
		go func() { defer close(ended); stream = ask("GET", begun.head.Get("Location")+"/events", "") }()
		synctest.Wait()
		start := time.Now()
		s.Close()
		<-ended
		if took := time.Since(start); took != time.Minute {
			t.Errorf("it waits %v for its jobs", took)
		}
		if !strings.Contains(stream.body.String(), "event: change") {
			t.Errorf("the stream was %s", stream.body.String())
		}
	})
}

// recorder is a ResponseWriter without a network.
type recorder struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.head }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) Flush()                      {}

// A stream on which nothing happens shows that it lives.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := httpapi.New(lender(func(ctx context.Context) (*rag.Engine, func(), error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}), httpapi.Options{Write: true, Roots: []string{t.TempDir()}, JobGrace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w := &recorder{head: http.Header{}}
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/ingest", strings.NewReader(`{"path":"."}`))
		s.ServeHTTP(w, r)
		r, _ = http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+w.head.Get("Location")+"/events", nil)
		w = &recorder{head: http.Header{}}
		s.ServeHTTP(w, r)
		if beats := strings.Count(w.body.String(), ":\n\n"); beats < 3 {
			t.Errorf("%d signs of life in a minute", beats)
		}
	})
}

func TestMetrics(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{})
	c.post("/v1/search", `{"query":"badger"}`).wants(t, 200)
	c.post("/v1/search", `{}`).wants(t, 422)
	body := c.get("/metrics").wants(t, 200).body
	for _, want := range []string{
		`rag_http_requests_total{route="POST /v1/search",status="200"} 1`, `rag_http_requests_total{route="POST /v1/search",status="422"} 1`,
		`rag_http_request_duration_seconds_count{route="POST /v1/search"} 2`, `rag_http_request_duration_seconds_bucket{route="POST /v1/search",le="+Inf"} 2`,
		`rag_stage_duration_seconds_count{stage="dense"} 1`, "rag_jobs_active 0", "rag_http_requests_active 1", "rag_http_requests_queued 0",
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}
