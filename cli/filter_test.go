package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestParseFilters(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	inWD := func(name string) string { return rag.FileURI(filepath.Join(wd, name)) }
	for text, want := range map[string]rag.Filter{
		"department=people":                   rag.Eq("department", "people"),
		"uri = docs/a.md":                     rag.Eq("uri", inWD("docs/a.md")),
		"uri = https://example.org/a":         rag.Eq("uri", "https://example.org/a"),
		"uri starts with docs/":               rag.Prefix("uri", inWD("docs")+"/"),
		"not uri in [a.md, 'b c.md', 1]":      rag.Not(rag.In("uri", inWD("a.md"), inWD("b c.md"), 1)),
		"(uri exists or uri = a) and x = a.b": rag.And(rag.Or(rag.Exists("uri"), rag.Eq("uri", inWD("a"))), rag.Eq("x", "a.b")),
	} {
		got, err := parseFilters([]string{text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	both, err := parseFilters([]string{"a = 1", "b = 2 or c = 3"})
	if err != nil || both.String() != "a = 1 and (b = 2 or c = 3)" {
		t.Errorf("two filters: got %s, %v", both, err)
	}
	_, err = parseFilters([]string{"a = 1", "b\t= \x1b ="})
	if err == nil || !strings.HasSuffix(err.Error(), "\n  b\\t= \\x1b =\n"+`            ^`) {
		t.Errorf("got %q", err)
	}
}
