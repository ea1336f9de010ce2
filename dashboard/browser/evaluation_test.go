package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// evaluate runs the test set under a label and waits for the run.
func (b *tab) evaluate(label, mode string) {
	b.t.Helper()
	b.visit("/evaluation")
	b.do(chromedp.SetValue(id("eval-mode"), mode), chromedp.SendKeys(id("eval-label"), label))
	b.follow(id("eval-run"))
	b.until("document.querySelector('[data-run=\"" + label + "\"] a') !== null")
}

func TestAPersonEvaluates(t *testing.T) {
	b := filled(t).open(t)
	b.visit("/evaluation")
	b.do(chromedp.SetUploadFiles(chromedp.CSS(`[data-testid=upload-set] input[type=file]`), files(t, nil, "../../dashboard/browser/testdata/questions.jsonl")))
	b.leave(chromedp.Submit(id("upload-set")))
	b.accessible()
	b.evaluate("words", "sparse")
	b.evaluate("both", "hybrid")
	b.accessible()
	b.picture("evaluation")

	b.follow(`[data-run="both"] a`)
	b.until("document.querySelector('.chart canvas') !== null || document.querySelector('.chart') === null")
	b.accessible()
	b.picture("evaluation-run")
	if got := b.count(id("run-question")); got < 5 {
		t.Errorf("%d questions", got)
	}
	b.do(chromedp.SendKeys(`[data-testid=gate-form] [name=min]`, "mrr=0.1"))
	b.follow(id("gate-run"))
	if got := js[string](b, "document.querySelector('[data-testid=gate-result]').dataset.exit"); got != "0" {
		t.Errorf("the gate's exit code is %s: %s", got, b.text(id("gate-result")))
	}
	b.accessible()

	// From a question to what the search did.
	b.follow(id("question-try"))
	if got := js[string](b, "document.querySelector('[data-testid=try-question]').value"); got == "" {
		t.Error("the question is not in the form")
	}

	b.visit("/evaluation")
	js[bool](b, "[...document.querySelectorAll('[data-testid=eval-run-row] input')].slice(0, 2).forEach((i) => i.click()), true")
	b.follow(id("compare-button"))
	b.accessible()
	b.picture("evaluation-compare")
	if got := b.text(id("compared-metrics")); !strings.Contains(got, "mrr") {
		t.Errorf("compared: %q", got)
	}
}
