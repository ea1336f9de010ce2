package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func TestPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, uri, want string }{
		{"below the working directory", rag.FileURI(filepath.Join(wd, "docs", "a b.md")), filepath.Join("docs", "a b.md")},
		{"elsewhere", rag.FileURI(filepath.Join(filepath.Dir(wd), "a.md")), filepath.Join(filepath.Dir(wd), "a.md")},
		{"further document", rag.FileURI(filepath.Join(wd, "a.json")) + "#2", "a.json#2"},
		{"number at the end of the name", rag.FileURI(filepath.Join(wd, "a.json#2")), rag.FileURI(filepath.Join(wd, "a.json#2"))},
		{"number sign in the name", rag.FileURI(filepath.Join(wd, "a#1.md")), "a#1.md"},
		{"line break", rag.FileURI(filepath.Join(wd, "a\nb\x1b[31m.md")), `a\nb\x1b[31m.md`},
		{"no UTF-8", rag.FileURI(filepath.Join(wd, "caf\xe9.md")), `caf\xe9.md`},
		{"other scripts", rag.FileURI(filepath.Join(wd, "手册.md")), "手册.md"},
		{"direction override", rag.FileURI(filepath.Join(wd, "a\u202egpj.md")), `a\u202egpj.md`},
		{"no file", "https://example.org/a%20b", "https://example.org/a%20b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := place(tt.uri); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestToURI(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	inWD := func(name string) string { return rag.FileURI(filepath.Join(wd, name)) }
	for in, want := range map[string]string{
		"a.md":                     inWD("a.md"),
		"docs/a b#1.md":            inWD("docs/a b#1.md"),
		"docs/a b.md#2":            inWD("docs/a b.md") + "#2",
		inWD("docs/a.md#2"):        inWD("docs/a.md#2"),
		filepath.Join(wd, "a.md"):  inWD("a.md"),
		"file:///docs/a.md#2":      "file:///docs/a.md#2",
		"https://example.org/a.md": "https://example.org/a.md",
		"memory:note":              "memory:note",
	} {
		if got, err := toURI(in); err != nil || got != want {
			t.Errorf("toURI(%q): got %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestVisibleText(t *testing.T) {
	got := visibleText("a\tb\n\x1b]0;title\a \xff é 👩\u200d🚀\u202e")
	if want := "a    b\n" + `\x1b]0;title\a \xff é ` + "👩\u200d🚀" + `\u202e`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"short", "one two", []string{"one two"}},
		{"at blanks", "one two three four", []string{"one two", "three four"}},
		{"line ends stay", "one\n\n  two\n", []string{"one", "", "  two"}},
		{"a long word", "abcdefghijklmnop", []string{"abcdefghij", "klmnop"}},
		{"indent is no place to cut", "    abcdefghijkl", []string{"    abcdef", "ghijkl"}},
		{"wide characters", "一二三四五六七", []string{"一二三四五", "六七"}},
		{"empty", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wrap(tt.text, 10)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzWrap(f *testing.F) {
	for _, s := range []string{"one two three", "  a\n\nb", "👩\u200d🚀👩\u200d🚀👩\u200d🚀", "e\u0301e\u0301e\u0301e\u0301", "\xff\xfe", "a\tb"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = max(2, width%200)
		text = visibleText(text)
		if !utf8.ValidString(text) {
			t.Fatalf("visibleText left bytes that are no UTF-8: %q", text)
		}
		lines := wrap(text, width)
		for _, l := range lines {
			if uniseg.StringWidth(l) > width && uniseg.GraphemeClusterCount(l) > 1 {
				t.Errorf("line of %d columns, want at most %d: %q", uniseg.StringWidth(l), width, l)
			}
		}
		bare := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if got, want := bare(strings.Join(lines, "")), bare(text); got != want {
			t.Errorf("wrapping changed the text: got %q, want %q", got, want)
		}
	})
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{"": "", "a\n  b": "a b", "abcdefghij": "abcdefghij", "abcdefghijk": "abcdefghi…", "一二三四五六": "一二三四…"} {
		if got := oneLine(in, 10); got != want {
			t.Errorf("oneLine(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestAsOf(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T12:00:00+01:00": time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC),
	} {
		if got, err := date(&cobra.Command{}, text, nil); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "2026-02-30", "31.1.2026", "0001-01-01"} {
		if _, err := date(&cobra.Command{}, text, nil); err == nil {
			t.Errorf("%q was taken for an instant", text)
		}
	}
}
