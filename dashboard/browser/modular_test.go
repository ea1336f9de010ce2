package browser

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// drop drags a file from outside of the browser into an element and lets it go there, which leads to another page.
func (b *tab) drop(sel chromedp.CSS, file string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(sel))
	type point struct{ X, Y float64 }
	at := js[point](b, "(() => { const r = document.querySelector('"+string(sel)+"').getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()")
	step := func(kind input.DispatchDragEventType) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
			const copies = 1
			_, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
				Type: kind, X: at.X, Y: at.Y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{file}, DragOperationsMask: copies},
			})
			return chromedp.Void{}, err
		}
	}
	b.do(step(input.DispatchDragEventTypeDragEnter), step(input.DispatchDragEventTypeDragOver))
	if !js[bool](b, "document.querySelector('"+string(sel)+"').classList.contains('over')") {
		b.t.Error("it does not show that a file can be dropped")
	}
	b.leave(step(input.DispatchDragEventTypeDrop))
}

// spans are the stages of a waterfall.
const spans = "[...document.querySelectorAll('[data-testid=span]')].map((r) => r.dataset.stage).filter((s) => s !== 'gap').join(' ')"

// The six pages of System A (A25, F7), on the built command over its example.
func TestModular(t *testing.T) {
	if browserPath() == "" {
		(&site{}).open(t) // which skips, before anything is built
	}
	system := systemtest.New(t, "modular")
	system.Run("ingest", "docs/stations.md", "docs/data-quality.md", "docs/mooring-design.pdf", "docs/sensor-calibration.docx", "docs/incident-2024-roost.md", "docs/glossary.txt").Done()
	s := &site{url: system.Dashboard(), dir: system.Dir}
	b := s.open(t)
	on := func(name string, page func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			b.t = t
			defer b.check()
			page(t)
			b.accessible()
		})
	}

	on("overview", func(t *testing.T) {
		b.visit("/")
		for card, want := range map[string]string{
			"component-embedder": "384", "component-splitter": "1000 characters", "component-rerank": "maxsim", "component-fusion": "rrf", "component-retrieval": "20 / 20", "tile-documents": "6",
		} {
			if got := b.text(id(card)); !strings.Contains(got, want) {
				t.Errorf("%s says %q, without %q", card, got, want)
			}
		}
		if got := b.text(id("tile-ingest")); got == "" {
			t.Error("the last ingest is not told")
		}
	})

	on("ingestion by drag and drop", func(t *testing.T) {
		b.visit("/ingest")
		b.drop(id("drop"), filepath.Join(system.Dir, "docs", "storm-procedure.pdf"))
		if got := b.text(id("batch-files")); !strings.Contains(got, "storm-procedure.pdf") {
			t.Fatalf("taken was %q", got)
		}
		b.follow(id("start"))
		b.until(state + " === 'done' && document.readyState === 'complete'")
		if got := b.text(id("n-added")); !strings.HasPrefix(got, "1") {
			t.Errorf("added: %q", got)
		}
	})

	on("data", func(t *testing.T) {
		b.visit("/browse")
		if got := b.count(id("document")); got != 7 {
			t.Errorf("%d documents", got)
		}
		b.fill(id("q"), "port shut at level red")
		b.follow(id("browse-go"))
		if got := b.text(id("hit")); !strings.Contains(got, "Storm Procedure") {
			t.Errorf("first is %q", got)
		}
		b.follow(id("hit") + " h2 a")
		b.follow(id("tab-pictures"))
		b.until("document.querySelector('[data-testid=pictures] img').naturalWidth > 0") // that of the PDF: it is loaded when it is in view
	})

	on("ingestion traces", func(t *testing.T) {
		b.visit("/traces/ingest")
		if got := b.count(id("ingest-trace")); got != 2 {
			t.Errorf("%d ingests are listed, want the one of the command and the one by drag and drop", got)
		}
		b.follow(id("ingest-trace") + " a")
		stages := js[string](b, spans)
		for _, stage := range []string{"load", "split", "transform", "embed", "upsert"} {
			if !strings.Contains(stages, stage) {
				t.Errorf("the waterfall has %q, without %s", stages, stage)
			}
		}
	})

	on("query traces", func(t *testing.T) {
		b.visit("/traces/query")
		b.do(chromedp.SendKeys(id("try-question"), "how are wave heights and swell compared between stations?"))
		b.follow(id("try-run"))
		if stages := js[string](b, spans); !strings.HasPrefix(stages, "query_processing dense sparse fusion rerank") {
			t.Errorf("the waterfall has %q", stages)
		}
		if got := b.count(id("rank-row") + ":not(.out)"); got != 5 {
			t.Errorf("%d passages are kept, want 5", got)
		}
		if got := b.text(id("rank-table")); !strings.Contains(got, "▲") || !strings.Contains(got, "▼") {
			t.Errorf("no passage moved: %q", got)
		}
		if got := b.count(`[data-lane="dense"] tbody tr`); got < 20 {
			t.Errorf("%d passages by meaning", got)
		}
	})

	on("evaluation", func(t *testing.T) {
		var smoke strings.Builder
		for line := range strings.Lines(system.Read("questions.jsonl")) {
			if strings.Contains(line, `"smoke"`) {
				smoke.WriteString(line)
			}
		}
		b.visit("/evaluation")
		b.do(chromedp.SetUploadFiles(chromedp.CSS(`[data-testid=upload-set] input[type=file]`), []string{write(t, "smoke.jsonl", smoke.String())}))
		b.leave(chromedp.Submit(id("upload-set")))
		b.evaluate("baseline", "hybrid")
		b.follow(`[data-run="baseline"] a`)
		b.until("document.querySelector('.chart canvas') !== null || document.querySelector('.chart') === null")
		if got := b.count(id("run-question")); got != 6 {
			t.Errorf("%d questions", got)
		}
		if got := b.text("main"); !strings.Contains(got, "mrr") || !strings.Contains(got, "hit@5") {
			t.Errorf("no metrics: %q", got)
		}
	})
	b.t = t
}
