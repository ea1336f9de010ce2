package docscheck_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/docscheck"
)

// book is the folder of the pages.
const book = "docs"

// generated is the page that the command prints: its examples are checked, and none is run.
const generated = "docs/cli.md"

// pages are the README and all pages of the book.
func pages(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(root), book, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What stands in a code block is a copy of code that is compiled, is read by what it is for, or is run.
func TestCodeBlocksOfPagesAreChecked(t *testing.T) {
	for _, file := range pages(t) {
		have := read(t, file)
		if file != generated {
			for _, bad := range docscheck.Untested(have, settings) {
				t.Errorf("%s: %s", file, bad)
			}
		}
		want, err := docscheck.RefreshCode(root, have)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		compareOrUpdate(t, file, have, want)
	}
}

// settings reads a yaml block: a file of variants, or a rag.yaml whose providers take what it gives them.
func settings(kind string, data []byte) error {
	lookup := func(string) (string, bool) { return "value", true }
	switch kind {
	case "":
		at, err := config.Parse("rag.yaml", data, lookup)
		if err != nil {
			return err
		}
		return takes(at.Config)
	case "variants":
		base, err := config.Parse("rag.yaml", nil, lookup)
		if err != nil {
			return err
		}
		_, _, err = eval.ReadGrid("grid.yaml", data, base.Config)
		return err
	}
	return fmt.Errorf("a yaml block of %q is none that is known", kind)
}

// takes has the providers of a configuration made, apart from those that would connect to something or read a model.
func takes(c engine.Config) error {
	c.Catalog = engine.ProviderConfig{Provider: "memory"}
	c.Embedder, c.VectorStore, c.SparseIndex, c.EmbedCache = engine.ProviderConfig{}, engine.ProviderConfig{}, engine.ProviderConfig{}, engine.ProviderConfig{}
	if _, err := agent.ParseConfig(c.Agent); err != nil {
		return err
	}
	if _, err := eval.ParseSettings(c.Evaluation); err != nil {
		return err
	}
	eng, err := engine.Open("", engine.WithConfig(c), engine.WithGetenv(func(string) string { return "key" }))
	if err != nil {
		return err
	}
	return eng.Close()
}

// redirection is what the shell does, behind a command that the help shows.
var redirection = regexp.MustCompile(`(?m) < [\w.-]+$`)

// Commands of pages are run one after the other in a folder with the examples; those that cannot be must have the flags that
// they are given.
func TestCommandsInPages(t *testing.T) {
	for _, file := range pages(t) {
		t.Run(file, func(t *testing.T) {
			page := read(t, file)
			if file == generated {
				page = redirection.ReplaceAllString(page, "")
			}
			cmds, err := docscheck.Commands(page)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			dir := t.TempDir()
			if len(cmds) > 0 && file != generated {
				if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range cmds {
				switch {
				case c.Args == nil:
					continue
				case c.Parse || file == generated:
					c.Args = append(c.Args, "--help") // flags are looked at first
				}
				if _, err := rag(t.Context(), dir, c.Args...); err != nil {
					t.Fatalf("%s:%d: %v", file, c.Line, err)
				}
			}
		})
	}
}

// The table of contents has each page once, and llms.txt is made of it.
func TestTheBookHasAllPages(t *testing.T) {
	listed := map[string]int{}
	contents := read(t, "docs/README.md")
	for _, part := range docscheck.Contents(contents) {
		for _, p := range part.Pages {
			listed[path.Join(book, p.File)]++
		}
	}
	for _, file := range pages(t) {
		if path.Dir(file) == book && file != "docs/README.md" && listed[file] != 1 {
			t.Errorf("docs/README.md lists %s %d times, want once", file, listed[file])
		}
	}
	have, err := os.ReadFile(filepath.Join(root, "llms.txt"))
	if err != nil && !*update {
		t.Fatal(err)
	}
	compareOrUpdate(t, "llms.txt", string(have), docscheck.LLMs(read(t, "README.md"), contents, book))
}

func TestContents(t *testing.T) {
	const page = "# Book\n\n## Start\n\nProse.\n\n- [One](one.md): tells [this](x.md).\n- no page\n\n## Empty\n\n## End\n\n- [Two](../two.md): tells that.\n"
	want := []docscheck.Part{
		{Title: "Start", Pages: []docscheck.Page{{Title: "One", File: "one.md", About: "tells [this](x.md)."}}},
		{Title: "End", Pages: []docscheck.Page{{Title: "Two", File: "../two.md", About: "tells that."}}},
	}
	if diff := cmp.Diff(want, docscheck.Contents(page)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	const llms = "# name\n\n> A b c.\n\n## Start\n\n- [One](docs/one.md): tells this.\n\n## End\n\n- [Two](two.md): tells that.\n"
	if diff := cmp.Diff(llms, docscheck.LLMs("# name\n\nA [b](b.md) c.\nD.\n\nMore.\n", page, "docs")); diff != "" {
		t.Errorf("llms.txt (-want +got):\n%s", diff)
	}
}

func TestUntested(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want string // part of the one sentence; "": none
	}{
		"known languages":  {"```text\nx\n```\n\n```mermaid\nx\n```\n\n```sh\nx\n```\n\n```go\nx\n```\n", ""},
		"settings":         {"```yaml\ncollection: x\n```\n", ""},
		"settings unknown": {"\n```yaml\ncolection: x\n```\n", "line 2: rag.yaml:1"},
		"settings refused": {"```yaml\nsplitter: {provider: recursive, max_tokns: 9}\n```\n", "max_tokns"},
		"variants":         {"<!-- variants -->\n```yaml\ngrid: {fusion.provider: [rrf]}\n```\n", ""},
		"another mark":     {"<!-- recipe -->\n```yaml\nx: 1\n```\n", "none that is known"},
		"json lines":       {"```json\n{\"a\": 1}\n{\"b\": 2}\n```\n", ""},
		"no json":          {"```json\n{a: 1}\n```\n", "line 1: invalid character"},
		"no language":      {"```\nx\n```\n", "without a language"},
		"unknown language": {"```ruby\nx\n```\n", "nothing checks a block of ruby"},
		"indented command": {"Prose.\n\n    rag list\n", "line 3: a command that is indented"},
		"indented layout":  {"Prose.\n\n    version byte · fields\n", ""},
		"a marked fence":   {"```text\n\n    x\n```\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := docscheck.Untested(c.page, settings)
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("got %q, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}
