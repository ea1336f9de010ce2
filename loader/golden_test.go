package loader_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ourLoaders chooses among the loaders of this package as the engine does.
func ourLoaders(t testing.TB) *rag.Loaders {
	t.Helper()
	p := &rag.Providers{}
	loader.Register(p)
	ls, err := rag.NewLoaders(rag.DefaultConfig(), rag.WithProviders(p))
	if err != nil {
		t.Fatal(err)
	}
	return ls
}

// goldenFiles are files that other programs wrote: their names say which.
func goldenFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "files", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return files
}

// TestGolden compares all that the engine sees of each file with what was reviewed: go test ./loader -run Golden -update
func TestGolden(t *testing.T) {
	ls := ourLoaders(t)
	for _, path := range goldenFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := seen(t, ls, path)
			golden := filepath.Join("testdata", "golden", filepath.Base(path)+".md")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// seen writes down what a file's documents are.
func seen(t *testing.T, ls *rag.Loaders, path string) string {
	t.Helper()
	var b strings.Builder
	for src, err := range rag.Files(path).All {
		if err != nil {
			t.Fatal(err)
		}
		docs, name, err := ls.Load(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range docs {
			if err := ragtest.CheckDocument(d); err != nil {
				t.Error(err)
			}
			meta, err := json.Marshal(d.Meta)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "document %d by %s: %q, state %s, language %q, pages %v\nmeta %s\n", i+1, name, d.Title, d.State, d.Language, d.Pages, meta)
			for _, s := range d.Sections {
				fmt.Fprintf(&b, "section %d %q %d-%d\n", s.Level, s.Title, s.Start, s.End)
			}
			for _, img := range d.Images {
				fmt.Fprintf(&b, "picture %s, %d bytes, page %d, at %d: %q, %.12s\n", img.MediaType, len(img.Data), img.Page, img.Offset, img.Alt, img.ID)
			}
			for _, w := range d.Warnings {
				fmt.Fprintf(&b, "warning %s\n", w)
			}
			b.WriteString("---\n" + d.Text + "\n")
		}
	}
	return b.String()
}

func TestEveryFormatIsFoundByItsContentOrName(t *testing.T) {
	ls := ourLoaders(t)
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"word":         {docxOf(t, para("", "x"), nil), "docx"},
		"wrong.docx":   {xlsxOf(t, `<row>`+textCell("A1", "x")+`</row>`, nil), "xlsx"},
		"sheet.zip":    {xlsxOf(t, `<row>`+textCell("A1", "x")+`</row>`, nil), "xlsx"},
		"slides":       {pptxOf(t, slideShape("", "x"), nil), "pptx"},
		"book":         {epubOf(t, "<p>x", nil), "epub"},
		"mail":         {[]byte(plainMail), "eml"},
		"table.tsv":    {[]byte("a\tb\n"), "csv"},
		"data.json":    {[]byte("{}"), "json"},
		"code.rs":      {[]byte("fn a() {}"), "code"},
		"note.ipynb":   {[]byte(notebook), "notebook"},
		"page":         {[]byte("<!doctype html><p>x"), "html"},
		"readme.md":    {[]byte("# x"), "markdown"},
		"readme":       {[]byte("From here on it is text."), "text"},
		"settings.yml": {[]byte("a: 1"), "code"},
	} {
		src := sourceOf(tt.data)
		src.Name = name
		if _, got, err := ls.Load(t.Context(), src); err != nil || got != tt.want {
			t.Errorf("%s: read by %q (%v), want %q", name, got, err, tt.want)
		}
	}
	src := sourceOf(zipOf(t, map[string]string{"a.txt": "x"}))
	if _, name, err := ls.Load(context.Background(), src); !errors.Is(err, rag.ErrUnsupported) {
		t.Errorf("an archive of no kind: read by %q, %v", name, err)
	}
}
