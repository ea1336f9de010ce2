package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestAPersonAsks(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	b.visit("/traces/query")
	if got := b.count(id("query-row")); got != 3 {
		t.Fatalf("%d searches are listed", got)
	}
	b.do(chromedp.SendKeys(id("try-question"), "what is the notice period of contractors?"), chromedp.Click(id("try-answer")))
	b.follow(id("try-run"))

	// The trace: a waterfall whose bars lie in the whole, a row for each passage, the answer with its sources.
	b.accessible()
	b.picture("query-trace")
	if got := b.text(id("trace-tiles")); !strings.Contains(got, "ask") {
		t.Errorf("tiles: %q", got)
	}
	stages := js[string](b, "[...document.querySelectorAll('[data-testid=span]')].map((r) => r.dataset.stage).filter((s) => s !== 'gap').join(' ')")
	if !strings.HasPrefix(stages, "query_processing dense sparse fusion") {
		t.Errorf("the waterfall has %q", stages)
	}
	beyond := js[int](b, "[...document.querySelectorAll('[data-testid=waterfall] td rect')].filter((r) => { const x = Number(r.getAttribute('x')), w = Number(r.getAttribute('width')); return !(x >= 0 && w >= 0 && x + w <= 100.5); }).length")
	if beyond > 0 {
		t.Errorf("%d bars reach beyond the whole", beyond)
	}
	if b.count(id("answer-text")) != 1 || b.count(id("citations")+" tbody tr") == 0 {
		t.Error("no answer, or one without citations")
	}
	first := js[string](b, "document.querySelector('[data-testid=rank-row]').dataset.chunk")
	hits, rows := b.count(id("rank-row")+":not(.out)"), b.count(id("rank-row"))
	if hits == 0 || rows <= hits {
		t.Errorf("%d of %d rows were returned", hits, rows)
	}

	// A marker of the answer leads to the row that it came from.
	b.do(chromedp.Click(id("citations") + " a"))
	b.until("location.hash.startsWith('#row-') && document.querySelector(location.hash) !== null")

	// A row that fell says why, at a click.
	b.pictureOf("#ranks", "query-ranks")
	b.follow(id("rank-row") + `.out a[href*="/explain"]`)
	b.accessible()
	b.picture("explain")
	if got := b.text(id("verdict")); !strings.Contains(got, "not returned") {
		t.Errorf("the verdict is %q", got)
	}

	// A passage that is missing is explained by words of it.
	b.fill(id("explain-chunk"), "")
	b.fill(id("explain-text"), "Days carried over lapse on 30 April")
	b.follow(id("explain-go"))
	b.accessible()
	if got := b.text(id("explanation")); !strings.Contains(got, "Leave Policy") || b.count(id("fates")+" tbody tr") < 4 {
		t.Errorf("explained is %q", got)
	}

	// The row of a hit is expected from now on.
	b.visit("/traces/query")
	b.follow(id("query-row") + " a")
	b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#row-%s input[name=chunk]", first))), chromedp.SendKeys(id("add-set-name"), "mine.jsonl"))
	b.follow(id("add-set-go"))
	b.visit("/evaluation")
	if got := b.text(id("eval-sets")); !strings.Contains(got, "mine.jsonl") {
		t.Errorf("test sets: %q", got)
	}

	// Two searches side by side.
	b.visit("/traces/query")
	js[bool](b, "[...document.querySelectorAll('[data-testid=query-row] input')].slice(0, 2).forEach((i) => i.click()), true")
	b.follow(id("compare"))
	b.accessible()
	b.picture("query-compare")
	if b.count(id("compared-hits")+" tbody tr") == 0 {
		t.Error("nothing is compared")
	}

	// The list is filtered by words of the question.
	b.visit("/traces/query")
	b.do(chromedp.SendKeys(id("filter-text"), "laser"))
	b.leave(chromedp.Submit(id("query-filter")))
	if got := b.count(id("query-row")); got != 1 {
		t.Errorf("%d searches have the word", got)
	}
}
