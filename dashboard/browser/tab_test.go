package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// patience is how long a test may take in all: a page that never does what is waited for fails the test.
const patience = 2 * time.Minute

// The pictures in docs/screens have this size.
const (
	screenWidth  = 1280
	screenHeight = 900
)

// browser is the one of the package; each test has a tab of its own in it.
var browser struct {
	once sync.Once
	ctx  context.Context //nolint:containedctx // to chromedp the browser is a context
	stop []func()
	err  error
}

func TestMain(m *testing.M) {
	code := systemtest.Run(m)
	for _, stop := range browser.stop {
		stop()
	}
	os.Exit(code)
}

// browserPath returns the program: $CHROME_BIN, or that of the path.
func browserPath() string {
	for _, name := range []string{os.Getenv("CHROME_BIN"), "chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			return path
		}
	}
	return ""
}

// launch starts the browser.
func launch(path string) {
	dir, err := os.MkdirTemp("", "rag-browser")
	if err != nil {
		browser.err = err
		return
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(screenWidth, screenHeight), chromedp.UserDataDir(dir),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en"))...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser.ctx, browser.stop = ctx, []func(){cancel, stop, func() { _ = os.RemoveAll(dir) }} //nolint:fatcontext // once
	browser.err = chromedp.Do(ctx)                                                            // the first use starts it, and must have no time limit
}

// tab is a tab that shows pages of a site. What goes wrong on them is collected and fails the test at its end.
type tab struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // to chromedp a tab is a context
	site *site

	mu       sync.Mutex
	problems []string
	allowed  []string
}

// open returns a new tab. It skips the test where there is no browser.
func (s *site) open(t *testing.T) *tab {
	t.Helper()
	path := browserPath()
	if path == "" {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("there is no browser: run scripts/install-chromium")
		}
		t.Skip("skipped: needs Chromium, which scripts/install-chromium installs")
	}
	browser.once.Do(func() { launch(path) })
	if browser.err != nil {
		t.Fatalf("%s does not start: %v", path, browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext()) // cookies of its own
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, site: s}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(screenWidth, screenHeight))
	b.scheme("light")
	t.Cleanup(b.check)
	return b
}

// listen notes what no page may do.
func (b *tab) listen(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			problem = "console: " + arguments(e.Args)
		}
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			problem += " " + x.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			problem = "log: " + e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		url := e.Request.URL
		if !strings.HasPrefix(url, b.site.url) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "about:") && !strings.HasPrefix(url, "blob:") {
			problem = "request to another server: " + url
		}
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

func arguments(args []*runtime.RemoteObject) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, "%s%s ", a.Value, a.Description)
	}
	return b.String()
}

// allow says that a problem with this text is what the test is about.
func (b *tab) allow(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, text)
}

// check fails the test for each problem.
func (b *tab) check() {
	if b.ctx.Err() == nil {
		b.unhurt()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, p := range b.problems {
		for _, ok := range b.allowed {
			if strings.Contains(p, ok) {
				continue next
			}
		}
		b.t.Errorf("in the browser: %s", p)
	}
}

// do performs steps, and fails the test with a word on the page where one cannot be done.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.fail(err)
	}
}

func (b *tab) fail(err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 10*time.Second)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Location())
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
	b.t.Fatalf("%v, at %s:\n%.3000s", err, where, text)
}

// js returns the value of an expression of JavaScript.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.fail(fmt.Errorf("%s: %w", expression, err))
	}
	return v
}

// until waits for an expression of JavaScript to be true, also over pages that load others.
func (b *tab) until(expression string) {
	b.t.Helper()
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression))
		if err == nil {
			return
		}
		left := strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "target navigated")
		if b.ctx.Err() != nil || !left {
			b.fail(fmt.Errorf("%s: %w", expression, err))
		}
	}
}

// visit goes to a page: a path of the site.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.url + path))
	b.unhurt()
}

// id selects the elements with a data-testid.
func id(name string) chromedp.CSS { return chromedp.CSS(`[data-testid="` + name + `"]`) }

// follow clicks on what leads to another page, and waits for that.
func (b *tab) follow(sel chromedp.CSS) {
	b.t.Helper()
	b.leave(chromedp.Click(sel))
}

// fill puts a text in the place of what stands in a field.
func (b *tab) fill(sel chromedp.CSS, text string) {
	b.t.Helper()
	js[bool](b, fmt.Sprintf("document.querySelector(%q).value = '', true", string(sel)))
	b.do(chromedp.SendKeys(sel, text))
}

// leave does what leads to another page, and waits for that.
func (b *tab) leave(step chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.WaitEvent(page.LoadEventFired, nil, step)); err != nil {
		b.fail(err)
	}
	b.unhurt()
}

// text returns the text of the first element that is selected.
func (b *tab) text(sel chromedp.CSS) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Text(sel))
	if err != nil {
		b.fail(fmt.Errorf("%s: %w", sel, err))
	}
	return text
}

// count returns how many elements are selected.
func (b *tab) count(sel chromedp.CSS) int {
	b.t.Helper()
	return js[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", string(sel)))
}

// path returns path and query of the page.
func (b *tab) path() string {
	b.t.Helper()
	return js[string](b, "location.pathname + location.search")
}

// scheme makes the system's preference light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err != nil {
		b.fail(err)
	}
}

// withoutScripts turns JavaScript of pages off.
func (b *tab) withoutScripts() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		b.fail(err)
	}
}

// unhurt fails the test where something that a document says was run.
func (b *tab) unhurt() {
	b.t.Helper()
	if got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String(window.__pwned)")); err == nil && got != "undefined" {
		b.t.Errorf("a document's script ran at %s", b.path())
	}
}
