package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-d8745b77/rag"
)

// filled is a dashboard with the handbook and some searches.
func filled(t *testing.T) *site {
	t.Helper()
	s := start(t, nil)
	s.ingest(t, rag.FS(os.DirFS(handbook), "handbook"))
	for _, question := range []string{"how many days of annual leave do I get?", "who approves travel expenses?", "what to do when the laser alarm sounds?"} {
		s.search(t, rag.Query{Text: question})
	}
	return s
}

func TestEveryPage(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			defer b.check()
			b.visit(p.path)
			if got := js[string](b, "document.querySelector('nav [aria-current=page]').getAttribute('href')"); got != p.path {
				t.Errorf("the navigation says that this is %q", got)
			}
			english := b.text("h1")
			b.accessible()
			b.picture(p.name)
			b.scheme("dark")
			b.accessible()
			if p.name == "overview" {
				b.picture(p.name + "-dark")
			}
			b.scheme("light")
			b.visit(p.path + "?lang=zh")
			if lang, title := js[string](b, "document.documentElement.lang"), b.text("h1"); lang != "zh" || title == english {
				t.Errorf("in Chinese the language is %q, the title %q", lang, title)
			}
			b.accessible()
			b.visit(p.path + "?lang=en")
		})
	}
	b.t = t
}

// A narrow window has no column that is cut off, and nothing beside it.
func TestEveryPageFitsAPhone(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	b.do(chromedp.EmulateViewport(400, 800))
	for _, p := range pages {
		b.visit(p.path)
		if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 400 {
			beyond := js[string](b, "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 400 && !e.closest('.scroll')).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5).join('\\n')")
			t.Errorf("%s is %d pixels wide:\n%s", p.path, wide, beyond)
		}
	}
}

func TestLanguageAndThemeAreKept(t *testing.T) {
	b := start(t, nil).open(t)
	b.visit("/")
	b.follow(id("lang-zh"))
	b.follow(id("theme-dark"))
	b.follow(id("nav-browse"))
	if lang, theme := js[string](b, "document.documentElement.lang"), js[string](b, "document.documentElement.dataset.theme"); lang != "zh" || theme != "dark" {
		t.Errorf("language %q, theme %q", lang, theme)
	}
	dark := js[string](b, "getComputedStyle(document.body).backgroundColor")
	b.follow(id("theme-light"))
	if light := js[string](b, "getComputedStyle(document.body).backgroundColor"); light == dark {
		t.Errorf("light and dark are both %s", light)
	}
}

func TestKeyboard(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	b.visit("/browse")
	b.do(chromedp.KeyEvent("/"))
	if got := js[string](b, "document.activeElement.id"); got != "q" {
		t.Errorf("the key / goes to %q", got)
	}
	b.do(chromedp.KeyEvent("annual leave"))
	b.leave(chromedp.KeyEvent(kb.Enter))
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	first := js[bool](b, "document.activeElement === document.querySelector('[data-testid=hit] a')")
	if !first {
		t.Errorf("j, j, k goes to %s", js[string](b, "document.activeElement.outerHTML"))
	}

	// From the top, the first thing is the way past the navigation.
	b.visit("/browse")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := js[string](b, "document.activeElement.className"); got != "skip" {
		t.Fatalf("the first Tab goes to %q", got)
	}
	if top := js[float64](b, "document.activeElement.getBoundingClientRect().top"); top < 0 {
		t.Errorf("what has the focus is not seen: it is at %v", top)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("document.activeElement.id === 'main'")

	// Every link and control is reached, each once, in the order in which they stand, and shows that it has the focus.
	b.visit("/browse")
	want := js[int](b, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")].filter((e) => e.checkVisibility({visibilityProperty: true}) && e.tabIndex >= 0 && !e.disabled).length`)
	for i := range want {
		b.do(chromedp.KeyEvent(kb.Tab))
		if seen := js[bool](b, "document.activeElement.dataset.seen === '1'"); seen {
			t.Fatalf("Tab %d of %d comes back to %s", i+1, want, js[string](b, "document.activeElement.outerHTML"))
		}
		shown := js[bool](b, "(() => { const e = document.activeElement; e.dataset.seen = '1'; const s = getComputedStyle(e); return e !== document.body && (s.outlineStyle !== 'none' || s.boxShadow !== 'none'); })()")
		if !shown {
			t.Errorf("it is not seen that %s has the focus", js[string](b, "document.activeElement.outerHTML"))
		}
	}
}

// Main tables are there without scripts.
func TestWithoutScripts(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	b.withoutScripts()
	for path, table := range map[string]chromedp.CSS{
		"/":                           id("collections"),
		"/browse":                     id("documents"),
		"/browse?q=how+long+is+leave": id("found"),
	} {
		b.do(chromedp.Navigate(s.url + path))
		rows, err := chromedp.Run(b.ctx, chromedp.Nodes(chromedp.CSSAll(table+" :is(tbody tr, li)")))
		if err != nil || len(rows) == 0 {
			t.Errorf("%s has %d rows: %v", path, len(rows), err)
		}
	}
}

func TestAPersonBrowses(t *testing.T) {
	s := filled(t)
	b := s.open(t)
	b.visit("/")
	if got := b.text(id("tile-documents")); !strings.Contains(got, "10") {
		t.Errorf("the tile says %q", got)
	}
	b.follow(id("nav-browse"))
	if got := b.count(id("document")); got != 10 {
		t.Errorf("%d documents", got)
	}
	b.do(chromedp.SendKeys(id("q"), "annual leave days"))
	b.follow(id("browse-go"))
	if b.count(id("found")+" mark") == 0 {
		t.Error("no word is marked")
	}
	b.picture("browse-found")
	b.accessible()
	b.follow(id("hit") + " h2 a")
	if b.count("[data-testid=chosen], [data-testid=chunk][aria-current]") == 0 {
		t.Errorf("the passage is not shown in its document at %s", b.path())
	}
	b.accessible()
	b.picture("document")
	for _, tab := range []string{"chunks", "metadata", "text"} {
		b.follow(id("tab-" + tab))
		b.accessible()
	}
}
