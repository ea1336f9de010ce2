package docscheck_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/docscheck"
)

func TestBlocks(t *testing.T) {
	text := "a\n<!-- from: x.go -->\n```go\npackage x\n```\n\n~~~~sh title\nrag list\n```\n~~~~\n```\nnever closed\n"
	type block struct {
		Lang, Mark, Body string
		Line             int
	}
	var got []block
	for _, b := range docscheck.Blocks(text) {
		got = append(got, block{b.Lang, b.Mark, b.Body, b.Line})
	}
	want := []block{
		{"go", "from: x.go", "package x\n", 3},
		{"sh", "", "rag list\n```\n", 7},
		{"", "", "never closed\n", 11},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("blocks differ (- got, + want):\n%s", diff)
	}
}

func TestRefreshCode(t *testing.T) {
	dir := project(t, map[string]string{
		"main.go":         "package main\n\nfunc main() {}\n",
		"example_test.go": "package x\n\nfunc Example_use() {\n\tif true {\n\t\tuse()\n\t}\n\t// Output:\n\t// 1\n}\n\nfunc other() { one() }\n",
	})
	fence := func(mark, body string) string { return "text\n\n" + mark + "\n```go\n" + body + "```\nmore\n" }
	cases := []struct {
		name, text, want string
		err              string // part of the error; "": none
	}{
		{"a whole file", fence("<!-- from: main.go -->", "old\n"), fence("<!-- from: main.go -->", "package main\n\nfunc main() {}\n"), ""},
		{"one function", fence("<!-- from: example_test.go Example_use -->", ""), fence("<!-- from: example_test.go Example_use -->", "if true {\n\tuse()\n}\n"), ""},
		{"another language is left alone", "```sh\nls\n```\n", "```sh\nls\n```\n", ""},
		{"no mark", fence("", "old\n"), fence("", "old\n"), "line 4: a go block needs"},
		{"no such file", fence("<!-- from: gone.go -->", "old\n"), fence("<!-- from: gone.go -->", "old\n"), "gone.go"},
		{"no such function", fence("<!-- from: main.go use -->", "old\n"), fence("<!-- from: main.go use -->", "old\n"), "main.go has no function use"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := docscheck.RefreshCode(dir, c.text)
			checkError(t, err, c.err)
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("text differs (- got, + want):\n%s", diff)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	cases := []struct {
		name, line string
		want       []string // nil: only the form is checked
		err        string
	}{
		{"the program", `rag search "annual leave" --top-k 3`, []string{"search", "annual leave", "--top-k", "3"}, ""},
		{"from source", `go run ./cmd/rag search 'it''s' ""`, []string{"search", "its", ""}, ""},
		{"a comment", `rag list # what is there`, []string{"list"}, ""},
		{"tests", `go test ./...`, nil, ""},
		{"a known form", `make check`, nil, ""},
		{"another program", `rm -rf .rag`, nil, "line 2: `rm -rf .rag` is no command"},
		{"a pipe", `rag list | head`, nil, "needs a shell"},
		{"a variable", `rag list --dir "$HOME"`, nil, "needs a shell"},
		{"an open quote", `rag search "leave`, nil, "leaves a quote open"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmds, err := docscheck.Commands("```sh\n" + c.line + "\n```\n")
			checkError(t, err, c.err)
			if c.err != "" {
				return
			}
			want := []docscheck.Command{{Line: 2, Args: c.want}}
			if diff := cmp.Diff(cmds, want); diff != "" {
				t.Errorf("commands differ (- got, + want):\n%s", diff)
			}
		})
	}
}

func TestDeadPaths(t *testing.T) {
	dir := project(t, map[string]string{
		"README.md": "# Top\n", "docs/adr/0001-first.md": "# 1. First: a `choice`\n", "loader/text.go": "package loader\n",
	})
	cases := []struct {
		name, text string
		want       string // part of the one sentence; "": none
	}{
		{"a link beside", "[one](adr/0001-first.md)", ""},
		{"a link upwards", "[top](../README.md)", ""},
		{"a heading", "[one](adr/0001-first.md#1-first-a-choice)", ""},
		{"another site", "[site](https://example.com/x)", ""},
		{"a code path", "`loader/text.go` and `loader/` and `loader/*.go`", ""},
		{"no path of ours", "`text/markdown`, `golang.org/x/net`, `../shared`, `k1 = 1.2`", ""},
		{"inside a code block", "```text\n[x](gone.md)\n```", ""},
		{"a dead link", "\n[two](adr/0002-second.md)", "docs/page.md:2: link adr/0002-second.md: no such file"},
		{"a dead heading", "[one](adr/0001-first.md#second)", "no such heading"},
		{"a link out", "[x](../../x.md)", "leads out of the project"},
		{"a dead code path", "see `loader/pdf.go`", "there is no loader/pdf.go"},
		{"a dead name", "see `NOTES.md`", "there is no NOTES.md"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := docscheck.DeadPaths(dir, "docs/page.md", c.text)
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("got %q, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestListedModules(t *testing.T) {
	text := "| module | licence |\n|---|---|\n| `go.etcd.io/bbolt` | MIT |\n| `github.com/a/b` | BSD |\n| `internal/x` | ours |\n"
	if diff := cmp.Diff(docscheck.ListedModules(text), []string{"github.com/a/b", "go.etcd.io/bbolt"}); diff != "" {
		t.Errorf("modules differ (- got, + want):\n%s", diff)
	}
}

func TestLinkedModules(t *testing.T) {
	got, err := docscheck.LinkedModules(t.Context(), root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 0 {
		t.Errorf("the root package links %q, it stands on the standard library", got)
	}
	if _, err := docscheck.LinkedModules(t.Context(), root, "./nowhere"); err == nil {
		t.Error("a package that is not there gives no error")
	}
}

// project writes files into a new folder.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkError fails unless err has the wanted part, or is nil where none is wanted.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
