package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/dashboard"
	"github.com/seed-d8745b77/rag/ragtest"
)

// held is an embedder that embeds passages only when it is let go.
func held() (embedder *ragtest.HashEmbedder, release func()) {
	gate := make(chan struct{})
	return &ragtest.HashEmbedder{Before: func(ctx context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			return nil
		}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, sync.OnceFunc(func() { close(gate) })
}

// files are files of the handbook, and others, by their whole paths, as a browser is given them.
func files(t *testing.T, others []string, names ...string) []string {
	t.Helper()
	for _, name := range names {
		path, err := filepath.Abs(filepath.Join(handbook, name))
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, path)
	}
	return others
}

// state is that of the job on the page.
const state = "(document.querySelector('[data-testid=job-state]') || {dataset: {}}).dataset.state"

func TestAPersonUploads(t *testing.T) {
	embedder, release := held()
	s := start(t, nil, rag.WithEmbedder(embedder))
	t.Cleanup(release)
	b := s.open(t)
	broken := write(t, "broken.pdf", "%PDF-1.7\nthis is none")

	b.visit("/ingest")
	b.do(chromedp.SetUploadFiles(id("pick-files"), files(t, []string{broken}, "calibration-lab-safety.pdf", "code-of-conduct.docx")))
	b.leave(chromedp.Click(id("upload"))) // the script sends them and goes on
	if got := b.count(id("batch-files") + " tbody tr"); got != 3 {
		t.Fatalf("%d files were taken", got)
	}
	b.accessible()
	b.picture("ingest-upload")

	// First a dry run: it says what would be done, and does nothing.
	b.follow(id("dry-run"))
	b.until(state + " === 'done'")
	b.accessible()
	if got := b.count(id("plan") + " tbody tr"); got != 3 {
		t.Errorf("the plan has %d files", got)
	}
	b.follow(id("run"))

	// The ingest is watched while it is held up, and seen to end.
	b.until(state + " === 'running' && document.querySelectorAll('[data-testid=job-file]').length === 3")
	b.until("[...document.querySelectorAll('[data-testid=job-file]')].some((r) => r.dataset.state === 'failed')")
	b.accessible()
	b.picture("ingest-job")
	js[bool](b, "window.__first = true")
	release()
	b.until(state + " === 'done' && document.readyState === 'complete' && !window.__first") // the page loads itself anew
	b.accessible()
	b.picture("ingest-done")
	for tile, want := range map[string]string{"n-added": "2", "n-failed": "1"} {
		if got := b.text(id(tile)); !strings.HasPrefix(got, want) {
			t.Errorf("%s says %q", tile, got)
		}
	}
	if got := b.text(id("failures")); !strings.Contains(got, "broken.pdf") {
		t.Errorf("failures: %q", got)
	}

	// What was uploaded is found, and gone after it was deleted.
	found := func() int {
		b.visit("/browse")
		b.do(chromedp.SendKeys(id("q"), "laser interlock"))
		b.follow(id("browse-go"))
		return b.count(id("hit"))
	}
	if found() == 0 {
		t.Fatal("the PDF is not found")
	}
	b.visit("/browse")
	b.follow(id("document") + " a") // the first is the PDF
	b.follow(id("delete"))
	b.accessible()
	b.picture("delete")
	b.follow(id("delete"))
	if got := b.text(id("existed")); got != "yes" {
		t.Errorf("something was deleted: %q", got)
	}
	b.accessible()
	b.visit("/browse")
	if got := b.text(id("documents")); strings.Contains(got, "Calibration") || !strings.Contains(got, "Code of Conduct") {
		t.Errorf("left is %q", got)
	}
}

func TestAPersonCancels(t *testing.T) {
	embedder, release := held()
	s := start(t, nil, rag.WithEmbedder(embedder))
	t.Cleanup(release)
	b := s.open(t)
	b.visit("/ingest")
	b.do(chromedp.SetUploadFiles(id("pick-files"), files(t, nil, "leave-policy-2026.md")))
	b.leave(chromedp.Click(id("upload")))
	b.follow(id("start"))
	b.until(state + " === 'running'")
	b.do(chromedp.Click(id("cancel")))
	b.until(state + " === 'cancelled'")
	b.accessible()
	b.visit("/browse")
	if b.count(id("document")) != 0 {
		t.Error("a cancelled ingest left a document")
	}
}

// Files are sent by a plain form where there are no scripts.
func TestUploadWithoutScripts(t *testing.T) {
	b := start(t, nil).open(t)
	b.withoutScripts()
	b.do(chromedp.Navigate(b.site.url+"/ingest"), chromedp.SetUploadFiles(id("pick-files"), files(t, nil, "leave-policy-2026.md")), chromedp.Click(id("upload")))
	b.do(chromedp.WaitReady(id("start")), chromedp.Click(id("start")), chromedp.WaitReady(id("job-state")))
}

func TestAPersonIngestsAPath(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "note.md"), []byte("# Opals\n\nOpals shine in all colours.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := start(t, func(o *dashboard.Options) { o.Roots = []string{root} }).open(t)
	b.visit("/ingest")
	b.do(chromedp.SendKeys(id("path"), root))
	b.follow(id("start"))
	b.until(state + " === 'done'")
	b.visit("/browse")
	if got := b.count(id("document")); got != 1 {
		t.Errorf("%d documents", got)
	}
	b.visit("/ingest")
	b.allow("status of 400")
	b.allow("status of 403")
	b.allow("status of 404")
	b.do(chromedp.SendKeys(id("path"), "/etc"))
	b.follow(id("start"))
	if b.count(id("problem")) == 0 {
		t.Error("a path outside of the folders is not refused")
	}
	b.accessible()
}
