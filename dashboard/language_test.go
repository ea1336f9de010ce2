package dashboard

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyUses finds the keys that templates and code name: whole ones, and beginnings that a value is put behind.
var keyUses = []*regexp.Regexp{
	regexp.MustCompile(`[{(]\s*-?\s*t "([a-z0-9_.]+)"`),
	regexp.MustCompile(`t \(print "([a-z0-9_.]+\.)"`),
	regexp.MustCompile(`\.(?:T|text)\("([a-z0-9_.]+)"`),
}

func TestTexts(t *testing.T) {
	texts := loadCatalogues()
	for _, lang := range languages[1:] {
		if diff := cmp.Diff(keys(texts[languages[0]]), keys(texts[lang])); diff != "" {
			t.Errorf("%s has not the keys of %s (-%s +%s):\n%s", lang, languages[0], languages[0], lang, diff)
		}
	}
	used := map[string]bool{}
	for _, files := range []fs.FS{templateFiles, os.DirFS(".")} {
		names, err := fs.Glob(files, "*.go")
		if err != nil {
			t.Fatal(err)
		}
		more, err := fs.Glob(files, "templates/*.html")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(names, more...) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, use := range keyUses {
				for _, m := range use.FindAllStringSubmatch(string(data), -1) {
					used[m[1]] = true
				}
			}
		}
	}
	for _, p := range pages() {
		used["nav."+p.name] = true
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if strings.HasSuffix(key, ".") {
			if !slices.ContainsFunc(keys(texts["en"]), func(k string) bool { return strings.HasPrefix(k, key) }) {
				t.Errorf("no text begins with %q", key)
			}
		} else if texts["en"][key] == "" && !strings.HasSuffix(key, ".") {
			t.Errorf("no text for %q", key)
		}
	}
	for _, key := range keys(texts["en"]) {
		prefix := key[:strings.LastIndexByte(key, '.')+1]
		if !used[key] && !used[prefix] && !strings.HasSuffix(key, ".title") {
			t.Errorf("nothing uses %q", key)
		}
	}
}

func keys(c catalogue) []string { return slices.Sorted(maps.Keys(c)) }

func TestText(t *testing.T) {
	c := catalogue{"a": "{0} {0|page|pages} of {1}", "b": "no {2} and {x}", "open": "{0"}
	for _, test := range []struct {
		key  string
		args []any
		want string
	}{
		{"a", []any{1, "x"}, "1 page of x"},
		{"a", []any{12345, "{0}"}, "12,345 pages of {0}"},
		{"b", []any{1}, "no {2} and {x}"},
		{"open", []any{7}, "7"},
		{"unknown.key", nil, "unknown.key"},
	} {
		if got := c.text(test.key, test.args...); got != test.want {
			t.Errorf("text(%q, %v) = %q; want %q", test.key, test.args, got, test.want)
		}
	}
}
