package loader_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, in string
		meta     rag.Meta
		text     string
	}{
		{"YAML", "---\ntitle: T\ncount: 3\nratio: 1.5\ndraft: true\nnothing: null\ntags: [a, b]\n---\nBody\n",
			rag.Meta{"title": "T", "count": 3.0, "ratio": 1.5, "draft": true, "tags": []string{"a", "b"}}, "Body\n"},
		{"TOML", "+++\ntitle = \"T\"\ncount = 3\ntags = [\"a\"]\n[author]\nname = \"N\"\n+++\nBody\n",
			rag.Meta{"title": "T", "count": 3.0, "tags": []string{"a"}, "author.name": "N"}, "Body\n"},
		{"dates", "---\ndate: 2026-02-01\nat: 2026-02-01T10:30:00Z\nvalid_from: 2026-02-01\nvalid_until: \"2027-01-31\"\n---\n",
			rag.Meta{"date": "2026-02-01", "at": "2026-02-01T10:30:00Z", "valid_from": "2026-02-01", "valid_until": "2027-01-31"}, ""},
		{"TOML dates", "+++\na = 2026-02-01\nb = 2026-02-01T10:30:00Z\nc = 2026-02-01T00:00:00\nd = 07:32:00\n+++\n",
			rag.Meta{"a": "2026-02-01", "b": "2026-02-01T10:30:00Z", "c": "2026-02-01T00:00:00", "d": "07:32:00"}, ""},
		{"nested", "---\na:\n  b:\n    c: 1\n  l: [1, 2.5, true, x, 2026-02-01]\nm: [{k: v, n: [1]}, [2]]\n1: one\n---\n",
			rag.Meta{"a.b.c": 1.0, "a.l": []string{"1", "2.5", "true", "x", "2026-02-01"}, "m": []string{`{"k":"v","n":[1]}`, "[2]"}, "1": "one"}, ""},
		{"tables of TOML", "+++\n[[a]]\nk = 'v'\n[[a]]\nk = 'w'\n+++\n", rag.Meta{"a": []string{`{"k":"v"}`, `{"k":"w"}`}}, ""},
		{"no number JSON has", "---\nx: .nan\ny: [.inf]\n---\n", rag.Meta{"x": "NaN", "y": []string{"+Inf"}}, ""},
		{"ends with dots", "---\ntitle: T\n...\nBody", rag.Meta{"title": "T"}, "Body"},
		{"blanks behind the marks", "---  \ntitle: T\n--- \nBody", rag.Meta{"title": "T"}, "Body"},
		{"empty", "---\n---\nBody", nil, "Body"},
		{"comments only", "---\n# none\n---\nBody", nil, "Body"},
		{"at the end", "---\ntitle: T\n---", rag.Meta{"title": "T"}, ""},
		{"rules around words", "---\nplain words\n---\nBody", nil, "---\nplain words\n---\nBody"},
		{"rules around a paragraph", "---\n\nA note: with a colon.\n\n---\nBody", nil, "---\n\nA note: with a colon.\n\n---\nBody"},
		{"rules around a list", "---\n- a\n- b\n---\nBody", nil, "---\n- a\n- b\n---\nBody"},
		{"never closed", "---\ntitle: T\nBody", nil, "---\ntitle: T\nBody"},
		{"not at the beginning", "\n---\ntitle: T\n---\n", nil, "\n---\ntitle: T\n---\n"},
		{"four dashes", "----\ntitle: T\n----\n", nil, "----\ntitle: T\n----\n"},
		{"indented mark inside", "---\ntext: |\n  a\n  ---\n  b\n---\nBody", rag.Meta{"text": "a\n---\nb\n"}, "Body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustLoad(t, newMarkdown(), c.in)
			if diff := cmp.Diff(c.meta, doc.Meta); diff != "" {
				t.Errorf("meta %s", diff)
			}
			if doc.Text != c.text {
				t.Errorf("text %q, want %q", doc.Text, c.text)
			}
			if len(doc.Warnings) > 0 {
				t.Errorf("warnings %v", doc.Warnings)
			}
		})
	}
}

func TestBrokenFrontMatterIsAWarningAndStays(t *testing.T) {
	for name, in := range map[string]string{
		"YAML":            "---\ntitle: [unclosed\n---\nBody\n",
		"YAML, tabs":      "---\ntitle: x\n\tbad: y\n---\nBody\n",
		"YAML, twice":     "---\ntitle: x\ntitle: y\n---\nBody\n",
		"TOML":            "+++\ntitle = unquoted\n+++\nBody\n",
		"YAML of aliases": "---\na: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n---\nBody\n",
	} {
		doc := mustLoad(t, newMarkdown(), in)
		if doc.Text != in || len(doc.Meta) != 0 {
			t.Errorf("%s: text %q, meta %v", name, doc.Text, doc.Meta)
		}
		if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, "front matter") || strings.Contains(doc.Warnings[0].Message, "\n") {
			t.Errorf("%s: warnings %v", name, doc.Warnings)
		}
	}
}

func TestFrontMatterLanguage(t *testing.T) {
	if got := mustLoad(t, newMarkdown(), "---\nlang: zh-CN\n---\nx").Language; got != "zh-CN" {
		t.Errorf("language %q", got)
	}
}
