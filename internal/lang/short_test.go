package lang_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/lang"
)

// labelled is a text and the language it is in.
type labelled struct{ tag, text string }

// shortQueries reads the labelled list.
func shortQueries(t *testing.T) []labelled {
	t.Helper()
	raw, err := os.ReadFile("testdata/short.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []labelled
	tag := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			tag = name
		} else if line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, labelled{tag, line})
		}
	}
	return list
}

// TestShortQueries holds the guess against short queries: of the English ones, among them names and jargon, hardly any
// may be taken for another language, since a search by meaning would be left out for them; of the others, the most must
// not be taken for English or for nothing.
func TestShortQueries(t *testing.T) {
	const (
		mostForeign = 0.02 // of the English ones, which are names, jargon and borrowed phrases for the most part
		leastFound  = 0.75 // of those of each other language
		leastRight  = 0.9  // of what is given a tag
	)
	type count struct{ all, found, right int }
	counts := map[string]*count{}
	for _, q := range shortQueries(t) {
		c := counts[q.tag]
		if c == nil {
			c = &count{}
			counts[q.tag] = c
		}
		got := lang.Detect(q.text)
		c.all++
		if got != "" && got != "en" {
			c.found++
		}
		if got == q.tag {
			c.right++
		}
		if got != q.tag && (got != "" || q.tag != "en") {
			t.Logf("%s %q: %q", q.tag, q.text, got)
		}
	}
	for _, tag := range []string{"en", "fr", "de", "es", "pt", "it", "nl"} {
		c := counts[tag]
		if c == nil {
			t.Fatalf("no queries in %q", tag)
		}
		t.Logf("%s: of %d taken for another language than English %d, given the right tag %d", tag, c.all, c.found, c.right)
		share := float64(c.found) / float64(c.all)
		switch {
		case tag == "en" && share > mostForeign:
			t.Errorf("%.3f of the English queries are taken for foreign, at most %.3f may be", share, mostForeign)
		case tag != "en" && share < leastFound:
			t.Errorf("%s: %.3f are found not to be English, want %.3f", tag, share, leastFound)
		case tag != "en" && float64(c.right) < leastRight*float64(c.found):
			t.Errorf("%s: of %d tags %d are right", tag, c.found, c.right)
		}
	}
}

// TestLongWord would go on for a quarter of an hour if the time grew with the square of a word's length.
func TestLongWord(t *testing.T) {
	if got := lang.Detect(strings.Repeat("ü", 1<<18)); got != "" {
		t.Errorf("got %q", got)
	}
}
