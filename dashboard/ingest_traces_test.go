package dashboard

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func TestIngestTraces(t *testing.T) {
	m := newManager(t, nil)
	for i := range 15 {
		m.write(fmt.Sprintf("docs/%02d.md", i), fmt.Sprintf("# Otters %d\n\nAn otter swims: ![it](lost%d.png)\n", i, i))
	}
	m.write("docs/x.docx", "no archive")
	m.write("docs/y.docx", "no archive")
	m.start(url.Values{"path": {"docs"}, "action": {"ingest"}})
	j, _ := m.start(url.Values{"path": {"docs/00.md"}, "collection": {"other"}, "action": {"ingest"}})
	list := func(query string) (v ingestTracesView) {
		t.Helper()
		code, _, body := get(t, m, "/traces/ingest?format=json&"+query)
		if err := json.Unmarshal([]byte(body), &v); code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %v %s", query, code, err, body)
		}
		return v
	}
	all := list("")
	if len(all.Rows) != 2 || all.Rows[0].Collection != "other" || all.Rows[1].Status != trace.StatusPartial || all.Rows[1].Counts.Failed != 2 {
		t.Fatalf("%+v", all.Rows)
	}
	for query, want := range map[string]int{
		"q=00.md": 1, "q=docs": 2, "q=none": 0, "collection=other": 1, "status=ok": 1, "status=partial": 1, "status=error": 0,
		"from=2001-01-01": 2, "to=2001-01-01": 0, "q=" + all.Rows[0].ID: 1,
	} {
		if got := list(query); len(got.Rows) != want {
			t.Errorf("%s: %d traces; want %d", query, len(got.Rows), want)
		}
	}
	for _, query := range []string{"status=none", "from=yesterday", "to=x"} {
		if got := status(t, m, "/traces/ingest?"+query); got != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got)
		}
	}
	_, _, body := get(t, m, "/traces/ingest")
	has(t, body, `data-testid="ingest-trace"`, `data-status="partial"`, `data-testid="n-ok">15<`, `data-testid="n-failed">2<`, `class="fill1"`)

	page := "/traces/ingest/" + all.Rows[1].ID
	_, _, body = get(t, m, page)
	has(t, body, `data-testid="waterfall"`, `data-testid="files"`, `data-testid="more-files"`, `data-stage="embed"`, "dimension", ">(2)<", ">(15)<", "x.docx", "lost14.png")
	if n := strings.Count(body, `data-testid="note-group"`); n != 2 {
		t.Errorf("%d groups of remarks; want one of failures and one of warnings", n)
	}
	if n := strings.Count(body, `data-testid="file"`); n != 17 {
		t.Errorf("%d files", n)
	}
	for _, link := range links(t, body, "/browse/") {
		if got := status(t, m, link); got != http.StatusOK {
			t.Errorf("%s: %d", link, got)
		}
	}
	var v ingestTraceView
	_, _, raw := get(t, m, page+"?format=json")
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	if sum := v.Waterfall.BusyMS + v.Waterfall.GapMS; math.Abs(sum-v.Trace.TotalMS) > 1e-6 || len(v.Stages) != 5 {
		t.Errorf("busy and gap are %v of %v, %d stages", sum, v.Trace.TotalMS, len(v.Stages))
	}
	var share float64
	for _, st := range v.Stages {
		share += st.Share
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("the shares add up to %v", share)
	}
	for i := 1; i < len(v.Files); i++ {
		if v.Files[i].Work > v.Files[i-1].Work {
			t.Errorf("the files are not in order")
		}
	}
	_, _, body = get(t, m, "/traces/ingest/"+reportOf(t, j).TraceID[:8])
	has(t, body, `data-testid="older"`, page)
	if got := status(t, m, "/traces/ingest/none"); got != http.StatusNotFound {
		t.Errorf("%d", got)
	}
	res, err := m.eng.Search(t.Context(), rag.Query{Text: "otter"})
	if err != nil {
		t.Fatal(err)
	}
	if code, h, _ := get(t, m, "/traces/ingest/"+res.TraceID); code != http.StatusSeeOther || !strings.Contains(h.Get("Location"), "/traces/query/") {
		t.Errorf("the trace of a question: %d %s", code, h.Get("Location"))
	}
}

func TestIngestTracesArePaged(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{Size: 1000})
	for i := range pageSize + 5 {
		tr := &rag.Trace{ID: fmt.Sprintf("%016x", i), Type: rag.TraceIngest, Collection: "default", Stages: []rag.Span{}}
		if err := ring.Record(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	s := server(t, engine(t), Options{Traces: ring})
	_, _, body := get(t, s, "/traces/ingest")
	if n := strings.Count(body, `data-testid="ingest-trace"`); n != pageSize {
		t.Errorf("%d on the first page", n)
	}
	next := links(t, body, "/traces/ingest?after=")
	if len(next) != 1 {
		t.Fatalf("next page: %v", next)
	}
	_, _, body = get(t, s, next[0])
	if n := strings.Count(body, `data-testid="ingest-trace"`); n != 5 || !strings.Contains(body, `data-testid="pager-first"`) {
		t.Errorf("%d on the second", n)
	}
	_, _, body = get(t, s, "/traces/ingest/0000000000000003") // one without counts, stages and files
	has(t, body, `data-testid="waterfall"`)
}

func TestAnIngestTraceThatNamesNothing(t *testing.T) {
	c := rag.DefaultConfig()
	c.Trace = rag.ProviderConfig{Provider: "jsonl", Settings: json.RawMessage(`{"detail": "minimal"}`)}
	m := newManager(t, nil, rag.WithConfig(c))
	m.write("docs/a.md", "# A\n\nText with ![it](lost.png).\n")
	m.write("docs/b.docx", "x")
	j, _ := m.start(url.Values{"path": {"docs"}, "action": {"ingest"}})
	_, _, body := get(t, m, "/traces/ingest/"+reportOf(t, j).TraceID)
	has(t, body, "not named at this level")
	for _, secret := range []string{"a.md", "b.docx", "lost.png"} {
		if strings.Contains(body, secret) {
			t.Errorf("%s is told", secret)
		}
	}
}

func TestIngestTracesThatAreNotKept(t *testing.T) {
	s := server(t, engine(t), Options{})
	_, _, body := get(t, s, "/traces/ingest")
	has(t, body, "No traces are kept")
	if got := status(t, s, "/traces/ingest/x"); got != http.StatusNotFound {
		t.Errorf("%d", got)
	}
}

// Whatever stands in a trace, its pages show it harmlessly.
func TestHostileIngestTraces(t *testing.T) {
	dir := t.TempDir()
	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
	tr := &rag.Trace{
		ID: "0123456789abcdef", Type: rag.TraceIngest, Collection: hostile, SourcePath: []string{hostile, "file:///" + url.PathEscape(hostile)}, Error: hostile, TotalMS: 10,
		Stages:   []rag.Span{{Stage: hostile, Method: hostile, StartMS: 1, EndMS: 5, ElapsedMS: 4, Error: hostile, Detail: map[string]any{hostile: hostile, "n": []string{hostile}}}},
		Files:    []rag.FileTrace{{URI: hostile, Action: hostile, Error: hostile, Stages: []rag.FileSpan{{Stage: hostile, EndMS: 3}}}, {URI: hostile, Action: "add"}},
		Warnings: []rag.SourceNote{{URI: hostile, Message: hostile}}, Notes: []rag.Note{{Stage: hostile, Reason: hostile}}, Counts: &rag.Counts{},
	}
	if err := sink.Record(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	s := server(t, engine(t), Options{Traces: trace.NewIndex(dir)})
	for _, target := range []string{"/traces/ingest", "/traces/ingest?q=" + url.QueryEscape(hostile), "/traces/ingest?collection=" + url.QueryEscape(hostile), "/traces/ingest/0123456789abcdef", "/traces/ingest/0123456789abcdef?lang=zh"} {
		code, _, body := get(t, s, target)
		if checkHarmless(t, target, body); code != http.StatusOK {
			t.Errorf("%s: %d", target, code)
		}
	}
}

// Every part of the pages that is written with a script works by a form as well, and has what the script looks for.
func TestWhatTheScriptLooksForIsThere(t *testing.T) {
	script, err := os.ReadFile("assets/ingest.js")
	if err != nil {
		t.Fatal(err)
	}
	var pages strings.Builder
	for _, name := range []string{"ingest", "ingest_job", "layout"} {
		data, err := templateFiles.ReadFile("templates/" + name + ".html")
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(data)
	}
	for _, m := range regexp.MustCompile(`getElementById\("([a-z-]+)"\)|querySelector\("#([a-z-]+)`).FindAllStringSubmatch(string(script), -1) {
		if id := m[1] + m[2]; !strings.Contains(pages.String(), `id="`+id+`"`) {
			t.Errorf("no element has the ID %s", id)
		}
	}
	for _, m := range regexp.MustCompile(`(?:job\.dataset|text)\.([a-z]+)`).FindAllStringSubmatch(string(script), -1) {
		if !strings.Contains(pages.String(), "data-"+m[1]+"=") {
			t.Errorf("no element has data-%s", m[1])
		}
	}
}
