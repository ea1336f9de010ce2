package browser

import (
	"testing"

	"github.com/seed-d8745b77/rag"
)

// filled is a dashboard with the handbook and some searches.
func filled(t *testing.T) *site {
	t.Helper()
	s := start(t, nil)
	s.ingest(t, rag.Dir(handbook))
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
			b.visit(p.path)
			if got := js[string](b, "document.querySelector('nav [aria-current=page]').getAttribute('href')"); got != p.path {
				t.Errorf("the navigation says that this is %q", got)
			}
			b.accessible()
			b.picture(p.name)
			b.visit(p.path + "?lang=zh")
			if got := js[string](b, "document.documentElement.lang"); got != "zh" || js[string](b, "document.querySelector('h1').innerText") == "" {
				t.Errorf("in Chinese the language is %q", got)
			}
			b.accessible()
			b.visit(p.path + "?lang=en&theme=dark")
			b.accessible()
			b.visit(p.path + "?theme=auto")
		})
	}
	b.t = t
}
