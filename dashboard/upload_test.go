package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/jobs"
)

func TestUpload(t *testing.T) {
	m := newManager(t, nil)
	code, next, body := m.upload("/ingest/uploads?collection=kb",
		sent{"files", "report.md", "# Report\n\nIt shows ![a](img/a.png).\n"}, sent{"files", "more/notes 1.txt", "Notes about otters."}, sent{"files", "", ""})
	if code != http.StatusSeeOther {
		t.Fatalf("%d %s", code, body)
	}
	_, _, body = get(t, m, next)
	has(t, body, "report.md", "more/notes 1.txt", `data-testid="decide"`)
	batch := batchOf(t, next)
	if code, next, _ := m.upload("/ingest/uploads/"+batch+"?collection=kb&format=json", sent{"files", "img/a.png", dot(t)}); code != http.StatusOK || next != "" {
		t.Errorf("a file more: %d", code)
	}
	_, body = m.start(url.Values{"batch": {batch}, "collection": {"kb"}, "action": {"dry_run"}})
	has(t, body, `data-action="add"`, "upload:///report.md", "upload:///more/notes%201.txt")
	j, _ := m.start(url.Values{"batch": {batch}, "collection": {"kb"}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Added != 2 || len(rep.Failed) != 0 {
		t.Errorf("%+v", rep)
	}
	if doc, err := m.eng.Document(t.Context(), "kb", "upload:///report.md"); err != nil || len(doc.Images) != 1 {
		t.Errorf("the picture beside it: %+v, %v", doc.Images, err)
	}
	if code, _, _ := get(t, m, next); code != http.StatusNotFound {
		t.Errorf("the batch is still there: %d", code)
	}

	// The same name again takes its place, and what has not changed is not read again.
	_, next, _ = m.upload("/ingest/uploads?collection=kb", sent{"files", "report.md", "# Report\n\nIt is new.\n"}, sent{"files", "more/notes 1.txt", "Notes about otters."})
	_, body = m.start(url.Values{"batch": {batchOf(t, next)}, "collection": {"kb"}, "action": {"dry_run"}})
	has(t, body, `data-action="update"`, `data-testid="n-unchanged"><b>1</b>`)
	j, _ = m.start(url.Values{"batch": {batchOf(t, next)}, "collection": {"kb"}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Updated != 1 || rep.Unchanged != 1 {
		t.Errorf("%+v", rep)
	}
	j, _ = m.start(url.Values{"uploaded": {"1"}, "collection": {"kb"}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Unchanged != 2 || len(rep.Failed) != 1 { // its page does not show the picture any more
		t.Errorf("all again: %+v", rep)
	}

	// A document that is deleted takes its file along.
	post(t, m, "/ingest/delete", "collection=kb&what=uris&step=delete&uris="+url.QueryEscape("upload:///report.md"))
	if _, err := os.Stat(filepath.Join(m.uploads, "kb", "report.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}

// TestAnUploadIsKeptOnce, also where a form is sent twice: one ingest has all files, and no other a part of them.
func TestAnUploadIsKeptOnce(t *testing.T) {
	const files, times = 40, 8
	m := newManager(t, nil)
	var all []sent
	for i := range files {
		all = append(all, sent{"files", fmt.Sprintf("%02d.txt", i), fmt.Sprintf("Otter number %d.", i)})
	}
	_, next, _ := m.upload("/ingest/uploads", all...)
	form := url.Values{"batch": {batchOf(t, next)}, "collection": {"kb"}, "action": {"ingest"}}.Encode()
	var codes [times]int
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() { codes[i], _, _ = post(t, m, "/ingest/start", form) })
	}
	wg.Wait()
	slices.Sort(codes[:])
	if codes[0] != http.StatusSeeOther || codes[1] != http.StatusNotFound || codes[times-1] != http.StatusNotFound {
		t.Errorf("%v; want one %d, else %d", codes, http.StatusSeeOther, http.StatusNotFound)
	}
	j := m.jobs.List("", jobs.KindIngest)[0]
	<-j.Done()
	if rep := reportOf(t, j); rep.Added != files {
		t.Errorf("%d of %d files were added", rep.Added, files)
	}
}

// TestCollectionsThatNoURLNames: browsers take "." and ".." out of a path.
func TestCollectionsThatNoURLNames(t *testing.T) {
	m := newManager(t, nil)
	_, next, _ := m.upload("/ingest/uploads", sent{"files", "a.md", "x"})
	for _, name := range []string{".", "..", " .. "} {
		form := url.Values{"batch": {batchOf(t, next)}, "new_collection": {name}, "action": {"ingest"}}
		if code, _, _ := post(t, m, "/ingest/start", form.Encode()); code != http.StatusBadRequest {
			t.Errorf("%q: %d; want %d", name, code, http.StatusBadRequest)
		}
	}
}

func TestUploadsAreDiscarded(t *testing.T) {
	m := newManager(t, nil)
	now := time.Now()
	m.Server.uploads.now = func() time.Time { return now }
	_, next, _ := m.upload("/ingest/uploads", sent{"files", "a.md", "x"})
	if code, _, _ := post(t, m, strings.Split(next, "?")[0]+"/discard", ""); code != http.StatusSeeOther {
		t.Errorf("%d", code)
	}
	if code, _, _ := get(t, m, next); code != http.StatusNotFound {
		t.Errorf("%d", code)
	}
	_, next, _ = m.upload("/ingest/uploads", sent{"files", "a.md", "x"})
	now = now.Add(batchAge + time.Hour)
	m.upload("/ingest/uploads", sent{"files", "b.md", "x"})
	if code, _, _ := get(t, m, next); code != http.StatusNotFound {
		t.Errorf("after a day: %d", code)
	}
	for _, id := range []string{"..", "%2E%2E", "..%2f..", "none", "A%00"} {
		if code, _, _ := get(t, m, "/ingest/uploads/"+id); code != http.StatusNotFound && code != http.StatusTemporaryRedirect && code != http.StatusMovedPermanently {
			t.Errorf("%s: %d", id, code)
		}
	}
}

func TestHostileNamesAreRefusedOrHarmless(t *testing.T) {
	m := newManager(t, nil)
	refused := []string{
		"../../x.md", "..\\..\\x.md", "/etc/x.md", "C:\\x.md", "a/../../x.md", "a//b.md", "./x.md", "x\x00.md", "%0Ax.md", "a\x7f.md", ".hidden.md", ".new/x.md",
		"NUL", "con.md", "COM1.txt", "lpt9", "sub/AUX.md", "x.md ", "x.md.", "con.fig/x.md", strings.Repeat("x", 300), strings.Repeat("d/", 40) + "x.md", "\xff.md",
	}
	for _, name := range refused {
		code, _, body := m.upload("/ingest/uploads?format=json", sent{"files", strings.ReplaceAll(name, `\`, `\\`), "text"})
		var v uploadView
		if err := json.Unmarshal([]byte(body), &v); code != http.StatusBadRequest && (err != nil || v.Batch != nil || len(v.Refused) != 1 || v.Refused[0].Reason == "") {
			t.Errorf("%q: %d %s", name, code, body)
		}
	}
	var found []string
	_ = filepath.WalkDir(filepath.Dir(m.uploads), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, p)
		}
		return nil
	})
	if len(found) != 0 {
		t.Errorf("files were made: %v", found)
	}

	const evil = `<script>alert(1)</script>" onload='x' &amp; 文件`
	name := strings.ReplaceAll(strings.ReplaceAll(evil, "/", "_"), `"`, "%22")
	_, next, body := m.upload("/ingest/uploads", sent{"files", name + ".md", "# <script>alert(2)</script>\n\ntext\n"}, sent{"files", name + ".bin", "\x00"}, sent{"files", "../" + name, "x"})
	pages := []string{body} // what was refused is said
	batch := batchOf(t, body+next)
	code, _, page := get(t, m, "/ingest/uploads/"+batch)
	if code != http.StatusOK {
		t.Fatal(code)
	}
	pages = append(pages, page)
	dry, page := m.start(url.Values{"batch": {batch}, "collection": {evil}, "action": {"dry_run"}})
	pages = append(pages, page)
	j, page := m.start(url.Values{"from": {dry.ID()}, "action": {"ingest"}})
	pages = append(pages, page)
	if rep := reportOf(t, j); rep.Added != 1 || len(rep.Failed) != 1 {
		t.Errorf("%+v", rep)
	}
	for _, target := range []string{
		"/ingest?collection=" + url.QueryEscape(evil), "/traces/ingest", "/traces/ingest/" + reportOf(t, j).TraceID,
		"/traces/ingest?q=" + url.QueryEscape(evil), "/ingest/jobs/" + url.PathEscape(evil), "/ingest/uploads/" + url.PathEscape(evil),
	} {
		_, _, page := get(t, m, target)
		pages = append(pages, page)
	}
	for _, form := range []url.Values{
		{"what": {"uris"}, "uris": {evil + "\n\x1b[31m\u202e"}}, {"what": {"all"}}, {"what": {"filter"}, "filter": {evil}}, {"what": {evil}},
		{"what": {"filter"}, "filter": {`title = "<script>alert(1)</script>"`}},
	} {
		form.Set("collection", evil)
		_, _, page := post(t, m, "/ingest/delete", form.Encode())
		pages = append(pages, page)
	}
	for _, form := range []url.Values{{"path": {evil}}, {"batch": {evil}}, {"from": {evil}}, {"domain": {evil}, "path": {"x"}}} {
		_, _, page := post(t, m, "/ingest/start", form.Encode())
		pages = append(pages, page)
	}
	_, _, changes := get(t, m, "/ingest/jobs/"+j.ID()+"/changes?format=json")
	var c jobChange
	if err := json.Unmarshal([]byte(changes), &c); err != nil || len(c.Rows) != 2 {
		t.Errorf("%v %s", err, changes)
	}
	for _, row := range c.Rows {
		pages = append(pages, row.HTML)
	}
	for i, page := range pages {
		checkHarmless(t, fmt.Sprint("page ", i), page)
	}
}

func TestUploadsHaveLimits(t *testing.T) {
	c := rag.DefaultConfig()
	c.Ingest.MaxSourceBytes, c.Ingest.MaxUnpackedBytes = 1000, 100_000
	m := newManager(t, nil, rag.WithConfig(c))
	code, _, body := m.upload("/ingest/uploads?format=json", sent{"files", "big.md", strings.Repeat("x", 1001)}, sent{"files", "small.md", strings.Repeat("x ", 500)})
	var v uploadView
	if err := json.Unmarshal([]byte(body), &v); code != http.StatusOK || err != nil || len(v.Refused) != 1 || len(v.Batch.Files) != 1 || v.Batch.Bytes != 1000 {
		t.Errorf("%d %s", code, body)
	}
	for range maxUploadFiles - 1 { // as if they had been sent
		if err := os.WriteFile(filepath.Join(m.uploads, newDir, v.Batch.ID, fmt.Sprintf("f%d.md", len(body))), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		body += "x"
	}
	if code, _, body := m.upload("/ingest/uploads/"+v.Batch.ID+"?format=json", sent{"files", "more.md", "x"}); code != http.StatusOK || !strings.Contains(body, "at once") {
		t.Errorf("too many: %d %.200s", code, body)
	}
	entries, err := os.ReadDir(filepath.Join(m.uploads, newDir, v.Batch.ID))
	if err != nil || len(entries) != maxUploadFiles {
		t.Errorf("%d files, %v", len(entries), err)
	}
	for i := 1; i < maxBatches; i++ {
		m.upload("/ingest/uploads", sent{"files", "a.md", "x"})
	}
	if code, _, body := m.upload("/ingest/uploads", sent{"files", "a.md", "x"}); code != http.StatusServiceUnavailable {
		t.Errorf("too many batches: %d %s", code, body)
	}
}

func TestAFormThatBreaksOffLeavesNothing(t *testing.T) {
	m := newManager(t, nil)
	for name, body := range map[string]string{
		"in a file":    "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\nhalf",
		"in a head":    "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\nx\r\n--b\r\nContent-",
		"at the start": "",
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/ingest/uploads", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		if code, _, page := send(t, m, r); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, code, page)
		}
	}
	if code, _, _ := post(t, m, "/ingest/uploads", "a=b"); code != http.StatusBadRequest {
		t.Errorf("no form with files: %d", code)
	}
	if code, _, _ := m.upload("/ingest/uploads"); code != http.StatusBadRequest {
		t.Errorf("a form without files: %d", code)
	}
	if entries, err := os.ReadDir(filepath.Join(m.uploads, newDir)); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// A packed file that unpacks to far more than it says is the file's failure, within the limits.
func TestAZipBombFailsAlone(t *testing.T) {
	racetest.Skip(t)
	c := rag.DefaultConfig()
	c.Ingest.MaxUnpackedBytes = 100_000
	m := newManager(t, nil, rag.WithConfig(c))
	_, next, _ := m.upload("/ingest/uploads", sent{"files", "bomb.docx", bomb(t, "word/document.xml", 50<<20)}, sent{"files", "good.md", "# Good\n\nText.\n"})
	j, body := m.start(url.Values{"batch": {batchOf(t, next)}, "action": {"ingest"}})
	if rep := reportOf(t, j); rep.Added != 1 || len(rep.Failed) != 1 || !strings.Contains(rep.Failed[0].URI, "bomb") {
		t.Errorf("%+v", rep)
	}
	has(t, body, "bomb.docx", "over a limit")
}
