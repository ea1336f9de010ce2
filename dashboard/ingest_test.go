package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/jobs"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// manager is a dashboard over a data folder, with a folder that may be ingested and one for uploads.
type manager struct {
	*Server
	t       *testing.T
	dir     string // data
	root    string
	uploads string
}

func newManager(t *testing.T, change func(*Options), opts ...rag.Option) *manager {
	t.Helper()
	m := &manager{t: t, dir: t.TempDir(), root: t.TempDir(), uploads: filepath.Join(t.TempDir(), "uploads")}
	eng, err := rag.Open(m.dir, append([]rag.Option{rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	o := Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), UploadDir: m.uploads, Roots: []string{m.root}, Traces: trace.NewIndex(m.dir)}
	if change != nil {
		change(&o)
	}
	m.Server = server(t, eng, o)
	return m
}

// write makes a file below the folder that may be ingested.
func (m *manager) write(name, text string) string {
	m.t.Helper()
	p := filepath.Join(m.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	return p
}

// sent is a file of a form.
type sent struct{ field, name, text string }

// upload sends files, and returns the status, where to go and the body.
func (m *manager) upload(target string, files ...sent) (int, string, string) {
	m.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, f := range files {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.field, f.name))
		part, err := form.CreatePart(h)
		if err != nil {
			m.t.Fatal(err)
		}
		_, _ = part.Write([]byte(f.text))
	}
	if err := form.Close(); err != nil {
		m.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+target, &b)
	r.Header.Set("Content-Type", form.FormDataContentType())
	code, h, body := send(m.t, m, r)
	return code, h.Get("Location"), body
}

// batchOf is the batch that a page is about.
func batchOf(t *testing.T, location string) string {
	t.Helper()
	found := regexp.MustCompile(`/ingest/uploads/([A-Z2-7]+)`).FindStringSubmatch(location)
	if found == nil {
		t.Fatalf("no batch in %q", location)
	}
	return found[1]
}

// start sends the form that begins an ingest, waits for the job, and returns its page.
func (m *manager) start(form url.Values) (*jobs.Job, string) {
	m.t.Helper()
	code, h, body := post(m.t, m, "/ingest/start", form.Encode())
	if code != http.StatusSeeOther {
		m.t.Fatalf("start: %d: %s", code, body)
	}
	page := h.Get("Location")
	id := strings.TrimPrefix(strings.Split(page, "?")[0], "/ingest/jobs/")
	j, err := m.jobs.Get("", id)
	if err != nil {
		m.t.Fatal(err)
	}
	<-j.Done()
	code, _, body = get(m.t, m, page)
	if code != http.StatusOK {
		m.t.Fatalf("job: %d: %s", code, body)
	}
	return j, body
}

func reportOf(t *testing.T, j *jobs.Job) *rag.IngestReport {
	t.Helper()
	r, err := j.Result()
	report, ok := r.(*rag.IngestReport)
	if !ok {
		t.Fatalf("no report: %v", err)
	}
	return report
}

// has fails where a page lacks one of these texts.
func has(t *testing.T, body string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(body, w) {
			t.Errorf("the page lacks %q:\n%s", w, body)
		}
	}
}

func TestIngestOfAPath(t *testing.T) {
	m := newManager(t, nil)
	m.write("docs/a.md", "# Otters\n\nAn otter swims.\n")
	m.write("docs/b.bin", "\x00\x01")
	m.write("docs/broken.docx", "PK\x03\x04 no archive")
	form := url.Values{"path": {"docs"}, "new_collection": {"animals"}, "action": {"dry_run"}}
	dry, body := m.start(form)
	has(t, body, `data-testid="plan"`, `data-action="add"`, "a.md", `data-testid="run"`)
	if infos, _ := m.eng.Collections(t.Context()); len(infos) != 0 || !reportOf(t, dry).DryRun {
		t.Errorf("a dry run made %v", infos)
	}
	j, body := m.start(url.Values{"from": {dry.ID()}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Collection != "animals" || rep.Added != 1 || len(rep.Failed) != 1 || len(rep.Skipped) != 1 {
		t.Errorf("%+v", rep)
	}
	has(t, body, `data-testid="n-added"><b>1</b>`, `data-testid="n-failed"><b>1</b>`, `data-testid="failures"`, "broken.docx", "The file is broken", `data-testid="trace"`)
	j, body = m.start(url.Values{"from": {j.ID()}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Unchanged != 1 {
		t.Errorf("again: %+v", rep)
	}
	has(t, body, `data-testid="n-unchanged"><b>1</b>`)
	_, _, list := get(t, m, "/ingest?collection=animals")
	if n := strings.Count(list, `data-testid="job"`); n != 3 {
		t.Errorf("%d jobs in the list", n)
	}
	has(t, list, "(dry run)", `data-state="done"`)

	m.write("docs/a.md", "# Otters\n\nAn otter dives.\n")
	_, body = m.start(url.Values{"from": {j.ID()}, "action": {"dry_run"}})
	has(t, body, `data-action="update"`, "content changed")
	if err := os.Rename(filepath.Join(m.root, "docs/a.md"), filepath.Join(m.root, "docs/c.md")); err != nil {
		t.Fatal(err)
	}
	form = url.Values{"path": {filepath.Join(m.root, "docs")}, "collection": {"animals"}, "prune": {"1"}, "action": {"ingest"}}
	j, _ = m.start(form)
	if rep := reportOf(t, j); rep.Added != 1 || rep.Deleted != 1 {
		t.Errorf("a changed and renamed file: %+v", rep)
	}
}

func TestOnlyPathsBelowARootAreIngested(t *testing.T) {
	m := newManager(t, nil)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.md"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(m.root, "link.md")); err != nil {
		t.Skip(err)
	}
	for _, p := range []string{outside, "/etc/passwd", "../" + filepath.Base(outside), "link.md", "none", "a\x00b", rag.FileURI(outside)} {
		for _, field := range []string{"path", "manifest"} {
			if code, _, body := post(t, m, "/ingest/start", url.Values{field: {p}, "action": {"ingest"}}.Encode()); code != http.StatusBadRequest {
				t.Errorf("%s %q: %d %s", field, p, code, body)
			}
		}
	}
	off := newManager(t, func(o *Options) { o.Roots, o.UploadDir = nil, "" })
	if code, _, _ := post(t, off, "/ingest/start", "path=/&action=ingest"); code != http.StatusBadRequest {
		t.Errorf("without roots: %d", code)
	}
	if code, _, _ := off.upload("/ingest/uploads", sent{"files", "a.md", "x"}); code != http.StatusForbidden {
		t.Errorf("without a folder for uploads: %d", code)
	}
	_, _, body := get(t, off, "/ingest")
	has(t, body, "Paths are off", "Uploads are off")
}

func TestManifest(t *testing.T) {
	d, err := domain.Load("../examples/admissions/admissions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := newManager(t, func(o *Options) { o.Domains = []*domain.Domain{d} })
	good := `{"document_path": "fees.md", "title": "Fees", "country": "UK", "source_type": "guide"}`
	bad := `{"document_path": "fees.md", "country": "Narnia", "colour": "red"}` + "\n{broken\n"
	_, next, _ := m.upload("/ingest/uploads", sent{"files", "fees.md", "# Fees\n\nThe fee is 10 pounds.\n"}, sent{"manifest", "any.jsonl", bad})
	batch := batchOf(t, next)
	code, _, body := post(t, m, "/ingest/start", url.Values{"batch": {batch}, "domain": {d.Name}, "action": {"ingest"}}.Encode())
	if code != http.StatusUnprocessableEntity {
		t.Errorf("%d", code)
	}
	has(t, body, `data-testid="manifest-problems"`, "Narnia", "<code>colour</code>", "<code>country</code>")
	if infos, _ := m.eng.Collections(t.Context()); len(infos) != 0 {
		t.Errorf("something was written: %v", infos)
	}
	if code, _, _ := post(t, m, "/ingest/start", url.Values{"batch": {batch}, "action": {"ingest"}}.Encode()); code != http.StatusBadRequest {
		t.Errorf("a manifest without a subject: %d", code)
	}
	m.upload("/ingest/uploads/"+batch, sent{"manifest", "any.jsonl", good})
	j, _ := m.start(url.Values{"batch": {batch}, "domain": {d.Name}, "action": {"ingest"}})
	meta := func() rag.Meta {
		e, err := m.eng.Entry(t.Context(), "", "upload:///fees.md")
		if err != nil {
			t.Fatal(err, reportOf(t, j).Failed)
		}
		return e.Meta
	}
	if got := meta()["country"]; got != "united_kingdom" {
		t.Errorf("country %v", got)
	}
	// A newer file of this name keeps what is said of it, and one that is the same is not read again.
	_, next, _ = m.upload("/ingest/uploads", sent{"files", "fees.md", "# Fees\n\nThe fee is 10 pounds.\n"})
	j, _ = m.start(url.Values{"batch": {batchOf(t, next)}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Unchanged != 1 || meta()["country"] != "united_kingdom" {
		t.Errorf("%+v", rep)
	}

	m.write("docs/fees.md", "# Fees\n\nThe fee is 10 pounds.\n")
	m.write("docs/manifest.jsonl", bad)
	if code, _, body := post(t, m, "/ingest/start?format=json", url.Values{"manifest": {"docs/manifest.jsonl"}, "domain": {d.Name}}.Encode()); code != http.StatusUnprocessableEntity || !strings.Contains(body, `"line": 1`) {
		t.Errorf("%d %s", code, body)
	}
	m.write("docs/manifest.jsonl", good)
	j, _ = m.start(url.Values{"manifest": {"docs/manifest.jsonl"}, "domain": {d.Name}, "collection": {"paths"}})
	if rep := reportOf(t, j); rep.Added != 1 {
		t.Errorf("%+v", rep)
	}
}

// gated is an embedder that waits for a sign before it embeds.
type gated struct {
	ragtest.HashEmbedder
	open chan struct{}
}

func (g *gated) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.HashEmbedder.Embed(ctx, role, texts)
}

func TestAJobIsFollowedLive(t *testing.T) {
	g := &gated{open: make(chan struct{})}
	m := newManager(t, nil, rag.WithEmbedder(g))
	m.write("a.md", "# Otters\n\nAn otter swims.\n")
	code, h, _ := post(t, m, "/ingest/start", url.Values{"path": {"a.md"}, "action": {"ingest"}}.Encode())
	if code != http.StatusSeeOther {
		t.Fatal(code)
	}
	page := strings.Split(h.Get("Location"), "?")[0]
	j, err := m.jobs.Get("", strings.TrimPrefix(page, "/ingest/jobs/"))
	if err != nil {
		t.Fatal(err)
	}
	var seq int64
	for c := range j.Follow(t.Context(), 0) {
		if seq = c.Status.Seq; len(c.Items) > 0 && c.Items[0].Stage == rag.StageEmbed {
			break
		}
	}
	_, _, body := get(t, m, page)
	has(t, body, `data-testid="cancel"`, "being embedded", "0/1", "data-events=")
	if code, _, _ := post(t, m, "/ingest/delete", "what=all"); code != http.StatusBadRequest {
		t.Errorf("a delete while it is under way: %d", code)
	}
	web := httptest.NewServer(m)
	defer web.Close()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+page+"/events", nil)
	req.Header.Set("Last-Event-ID", fmt.Sprint(seq))
	res, err := web.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	close(g.open)
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil { // it ends with the job
		t.Fatal(err)
	}
	has(t, text.String(), "event: change", `"ended":true`, `"state":"done"`)
	if strings.Contains(text.String(), `"files 0"`) || !regexp.MustCompile(`(?m)^id: \d+$`).MatchString(text.String()) {
		t.Errorf("%s", text.String())
	}
	_, _, changes := get(t, m, page+"/changes?format=json&after="+fmt.Sprint(j.Status().Seq))
	var c jobChange
	if err := json.Unmarshal([]byte(changes), &c); err != nil || !c.Ended || len(c.Rows) != 0 {
		t.Errorf("%v %s", err, changes)
	}
}

func TestAJobIsCancelled(t *testing.T) {
	g := &gated{open: make(chan struct{})}
	m := newManager(t, nil, rag.WithEmbedder(g))
	m.write("a.md", "# Otters\n\nAn otter swims.\n")
	_, h, _ := post(t, m, "/ingest/start", url.Values{"path": {"a.md"}, "action": {"ingest"}}.Encode())
	page := strings.Split(h.Get("Location"), "?")[0]
	if code, _, _ := post(t, m, page+"/cancel", ""); code != http.StatusSeeOther {
		t.Fatal(code)
	}
	_, _, body := get(t, m, page)
	has(t, body, "cancelled", `data-state="cancelled"`)
	if code, _, _ := get(t, m, "/ingest/jobs/none"); code != http.StatusNotFound {
		t.Errorf("%d", code)
	}
}

// The second document of a file is named by the path it is shown with.
func TestDeleteOneDocumentOfAFile(t *testing.T) {
	m := newManager(t, nil)
	p := m.write("docs/x.jsonl", `{"title": "Otters", "text": "Otters swim."}`+"\n"+`{"title": "Foxes", "text": "Foxes hunt."}`)
	m.start(url.Values{"path": {"docs"}, "action": {"ingest"}})
	_, _, body := get(t, m, "/browse?prefix="+url.QueryEscape(p+"#2"))
	has(t, body, "Foxes")
	_, _, body = post(t, m, "/ingest/delete", "step=delete&what=uris&uris="+url.QueryEscape(p+"#2"))
	has(t, body, `data-testid="documents">1<`)
	if _, err := m.eng.Entry(t.Context(), "", rag.FileURI(p)); err != nil {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	m := newManager(t, nil)
	for i := range 4 {
		m.write(fmt.Sprintf("docs/%d.md", i), fmt.Sprintf("---\nyear: %d\n---\n# Report %d\n\nText.\n", 2018+i, i))
	}
	m.start(url.Values{"path": {"docs"}, "action": {"ingest"}})
	left := func() (n int) {
		for _, err := range m.eng.Documents(t.Context(), "") {
			if err == nil {
				n++
			}
		}
		return n
	}
	code, _, body := post(t, m, "/ingest/delete", "what=filter&filter="+url.QueryEscape("year < 2020"))
	if code != http.StatusOK || left() != 4 {
		t.Fatalf("a preview: %d, %d left", code, left())
	}
	has(t, body, `data-testid="documents">2<`, `data-testid="removed-chunks">2<`, `data-testid="delete"`, "0.md")
	_, _, body = post(t, m, "/ingest/delete", "step=delete&what=filter&filter="+url.QueryEscape("year < 2020"))
	has(t, body, `data-testid="documents">2<`, `data-testid="existed">yes`, `data-testid="removed-images">0<`)
	if left() != 2 {
		t.Errorf("%d left", left())
	}
	uris := url.QueryEscape(filepath.Join(m.root, "docs/2.md") + "\r\n" + rag.FileURI(filepath.Join(m.root, "docs/none.md")) + "\r\n")
	_, _, body = post(t, m, "/ingest/delete", "step=delete&what=uris&uris="+uris)
	has(t, body, `data-testid="documents">1<`, `data-testid="not-found"`, "none.md")
	for _, confirm := range []string{"", "Default", "other"} {
		if code, _, _ := post(t, m, "/ingest/delete", "step=delete&what=all&confirm="+confirm); code != http.StatusBadRequest || left() != 1 {
			t.Errorf("confirmed by %q: %d", confirm, code)
		}
	}
	_, _, body = post(t, m, "/ingest/delete?format=json", "step=delete&what=all&confirm=default")
	var v deleteView
	if err := json.Unmarshal([]byte(body), &v); err != nil || !v.Done || v.Report.Documents != 1 || left() != 0 {
		t.Errorf("%v %s", err, body)
	}
	for _, form := range []string{"", "what=uris", "what=filter", "what=filter&filter=year+%3C", "what=nothing"} {
		if code, _, _ := post(t, m, "/ingest/delete", form); code != http.StatusBadRequest {
			t.Errorf("%q: %d", form, code)
		}
	}
}

func TestAReadOnlyDashboardOffersNoIngest(t *testing.T) {
	m := newManager(t, func(o *Options) { o.ReadOnly = true })
	_, _, body := get(t, m, "/ingest")
	if strings.Contains(body, `action="/ingest`) {
		t.Errorf("a form is offered:\n%s", body)
	}
	for _, target := range []string{"/ingest/uploads", "/ingest/uploads/A", "/ingest/uploads/A/discard", "/ingest/start", "/ingest/jobs/A/cancel", "/ingest/delete"} {
		if code, _, _ := post(t, m, target, "what=all"); code != http.StatusForbidden {
			t.Errorf("%s: %d", target, code)
		}
		if code, _, _ := post(t, m, target, "what=all", header("Sec-Fetch-Site", "cross-site")); code != http.StatusForbidden {
			t.Errorf("%s from another site: %d", target, code)
		}
	}
}

func TestIngestInChinese(t *testing.T) {
	m := newManager(t, nil)
	m.write("a.md", "# 水獭\n\n水獭会游泳。\n")
	j, _ := m.start(url.Values{"path": {"a.md"}, "action": {"ingest"}})
	for target, want := range map[string]string{"/ingest?lang=zh": "摄取管理", "/ingest/jobs/" + j.ID() + "?lang=zh": "执行结果", "/traces/ingest?lang=zh": "摄取追踪"} {
		_, _, body := get(t, m, target)
		has(t, body, want)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a.md", "a/b c/文件.pdf", "COM10.md", "a..b.md", "10:30.md", "com.md", `a"b<script>.md`, "..x/../y"} {
		got, err := cleanName(name)
		if wantErr := strings.HasPrefix(name, ".."); (err != nil) != wantErr || err == nil && got != name {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	for collection, want := range map[string]string{"default": "default", "..": "%2E%2E", ".new": "%2Enew", "a/b": "a%2Fb", "文": "%E6%96%87"} {
		if diff := cmp.Diff(want, collectionDir(collection)); diff != "" {
			t.Errorf("%q: %s", collection, diff)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"a.md", "../x", "a/b", "/x", "NUL", "a\\b", "x\x00", ".x", "a/.b/c", "x."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := cleanName(name)
		if err != nil {
			return
		}
		if back, ok := uploadName(uploadURI(got)); !ok || back != name || got != name {
			t.Errorf("%q became %q by its URI %q", name, back, uploadURI(got))
		}
		if !filepath.IsLocal(got) || strings.HasPrefix(filepath.Clean(got), "..") || filepath.ToSlash(filepath.Clean(got)) != got {
			t.Errorf("%q leads elsewhere", got)
		}
	})
}
