package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// takeIn ingests by path: what stands in the fields of the form by their names. It waits for the job's end.
func (b *tab) takeIn(fields map[string]string) {
	b.t.Helper()
	b.visit("/ingest")
	for name, value := range fields {
		b.do(chromedp.SetValue(chromedp.CSS(`[data-testid=path-form] [name="`+name+`"]`), value))
	}
	b.follow(id("start"))
	b.until(state + " === 'done' && document.readyState === 'complete'")
}

// The pages of System B (B15) on the built command over its example: a subject with a manifest and dates.
func TestAdmissions(t *testing.T) {
	if browserPath() == "" {
		(&site{}).open(t) // which skips, before anything is built
	}
	const day = "2026-03-01"
	system := systemtest.New(t, "admissions")
	system.Write("broken.pdf", "%PDF-1.7\nthis is none")
	s := &site{url: system.Dashboard("--domain", "admissions.yaml", "--allow-ingest", system.Dir), dir: system.Dir}
	b := s.open(t)
	on := func(name string, page func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			b.t = t
			defer b.check()
			page(t)
			b.accessible()
		})
	}

	on("ingestion", func(t *testing.T) {
		b.takeIn(map[string]string{"path": "documents", "manifest": "manifest.jsonl", "domain": "admissions"})
		if got := b.text(id("n-added")); !strings.HasPrefix(got, "14") {
			t.Fatalf("added: %q", got)
		}
		if got := b.count(id("job-stages") + " tbody tr"); got != 3 {
			t.Errorf("progress was shown of %d stages", got)
		}
		b.takeIn(map[string]string{"path": "broken.pdf", "new_collection": "scratch"})
		if got := b.text(id("failures")); !strings.Contains(got, "broken.pdf") {
			t.Errorf("failures: %q", got)
		}
	})

	on("overview", func(t *testing.T) {
		b.visit("/")
		b.until("document.querySelector('[data-testid=collection-admissions_knowledge] .counts') !== null") // as of today, whatever that is
		b.visit("/validity?collection=admissions_knowledge&as_of=" + day)
		if got := strings.Fields(b.text(id("counts"))); !slices.Contains(got, "8") || !slices.Contains(got, "3") {
			t.Errorf("counts: %q", got)
		}
	})

	on("browsing by each field", func(t *testing.T) {
		for _, f := range []struct {
			field, value string
			want         int
		}{
			{"country", "norvania", 4}, {"institution", "University of Estmark", 2}, {"program", "nursing", 1}, {"degree_level", "bachelor", 1}, {"intake", "2025-autumn", 2},
			{"application_round", "rolling", 1}, {"source_type", "scholarship", 2},
		} {
			b.visit("/browse?collection=admissions_knowledge&as_of=" + day)
			b.do(chromedp.SetValue(id("field-"+f.field), f.value))
			b.follow(id("browse-go"))
			if got := b.count(id("document")); got != f.want {
				t.Errorf("%s = %s: %d documents, want %d", f.field, f.value, got, f.want)
			}
		}
		for status, want := range map[string]int{"current": 8, "needs_review": 3, "expired": 3} {
			b.visit("/browse?collection=admissions_knowledge&as_of=" + day)
			b.do(chromedp.SetValue(id("status"), status))
			b.follow(id("browse-go"))
			if got := b.count(id("document")); got != want {
				t.Errorf("%s: %d documents, want %d", status, got, want)
			}
		}
	})

	on("ingestion traces", func(t *testing.T) {
		b.visit("/traces/ingest?collection=admissions_knowledge")
		b.follow(`[data-testid="ingest-trace"]:last-child a`) // the first one
		stages := b.text(id("stages"))
		for _, want := range []string{"recursive", "local", "ms"} { // methods and times
			if !strings.Contains(stages, want) {
				t.Errorf("the stages are %q, without %s", stages, want)
			}
		}
		b.visit("/traces/ingest")
		b.follow(`[data-testid="ingest-trace"]:first-child a`)                                                                                                               // the last one
		if got := js[string](b, "document.querySelector('[data-testid=failures]').textContent"); !strings.Contains(got, "corrupt") || !strings.Contains(got, "broken.pdf") { // where is folded away
			t.Errorf("the failure is told as %q", got)
		}
	})

	on("query traces", func(t *testing.T) {
		b.visit("/traces/query?collection=admissions_knowledge")
		b.do(chromedp.SendKeys(id("try-question"), "Which IELTS score does Westmoor ask for?"))
		b.follow(id("try-run"))
		const spans = "[...document.querySelectorAll('[data-testid=span]')].map((r) => r.dataset.stage).filter((s) => s !== 'gap').join(' ')"
		if stages := js[string](b, spans); !strings.HasPrefix(stages, "query_processing dense sparse fusion rerank") {
			t.Errorf("the waterfall has %q", stages)
		}
		if got := b.count(id("rank-row") + ":not(.out)"); got != 5 {
			t.Errorf("%d passages are kept", got)
		}
	})

	on("evaluation", func(t *testing.T) {
		few := slices.Collect(strings.Lines(system.Read("questions.jsonl")))[:6]
		b.visit("/evaluation")
		b.do(chromedp.SetUploadFiles(chromedp.CSS(`[data-testid=upload-set] input[type=file]`), []string{write(t, "few.jsonl", strings.Join(few, ""))}))
		b.leave(chromedp.Submit(id("upload-set")))
		b.evaluate("first", "hybrid")
		b.evaluate("second", "sparse")
		if got := b.count(id("eval-run-row")); got != 2 {
			t.Errorf("%d runs in the history", got)
		}
		b.follow(`[data-run="first"] a`)
		if got := b.count(id("run-question")); got != 6 {
			t.Errorf("%d questions", got)
		}
		// By other names of the vocabulary, under dates and policies, everything is found.
		if got := js[string](b, "[...document.querySelectorAll('tr')].map((r) => r.innerText).find((t) => t.includes('document/hit@5')) || ''"); !strings.Contains(got, "1.000") {
			t.Errorf("hit@5 is %q", got)
		}
	})

	on("coordinated delete", func(t *testing.T) {
		b.visit("/browse?collection=admissions_knowledge&f.source_type=official_pdf")
		b.follow(id("document") + " a")
		b.follow(id("delete")) // says what would go
		b.follow(id("delete"))
		if got := b.text(id("existed")); got != "yes" {
			t.Errorf("something was deleted: %q", got)
		}
		b.visit("/browse?collection=admissions_knowledge")
		if got := b.count(id("document")); got != 13 {
			t.Errorf("%d documents are left", got)
		}
		b.visit("/browse?collection=admissions_knowledge&q=the+way+of+an+application")
		if got := js[string](b, "document.body.innerText"); strings.Contains(got, "How to apply to Westmoor") {
			t.Error("its passages are still found")
		}
	})
}
