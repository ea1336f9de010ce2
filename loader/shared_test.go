package loader_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// expectation is what expected.json of the shared documents says of one file.
type expectation struct {
	Type          string
	Title         string
	Sentences     []string
	HeadingsFirst [][2]any       `json:"headings_first"`
	HeadingsMin   int            `json:"headings_in_main_at_least"`
	FrontMatter   map[string]any `json:"front_matter"`
	APIEntries    int            `json:"api_entries"`
	APIFirst      []string       `json:"api_first"`
	CodeBlocks    int            `json:"code_blocks"`
	Images        *int           // pictures whose bytes are in the file
	TableTags     int            `json:"table_tags"` // table elements, those for layout and within others included
}

// furnitureWords stand in the navigation of the shared pages and nowhere else in them.
var furnitureWords = []string{"¶", "[source]", "Table of Contents", "Quick search", "Page contents", "Jump to content", "[edit]", "Toggle the table of contents", "Privacy policy", "Log in"}

func TestSharedDocuments(t *testing.T) {
	dir := testdata.Shared(t, "data", "docs")
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	loaders := map[string]rag.Loader{"html": newHTML(), "md": newMarkdown(), "txt": newText()}
	tried := 0
	for name, raw := range all {
		kind, _, _ := strings.Cut(name, "/")
		l := loaders[kind]
		if l == nil {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			var want expectation
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			checkExpectation(t, want, mustLoad(t, l, string(data)))
		})
	}
	if tried == 0 {
		t.Error("expected.json names no html, md or txt file")
	}
}

func checkExpectation(t *testing.T, want expectation, doc rag.Document) {
	text := mdtext.Line(doc.Text)
	for _, s := range want.Sentences {
		if !strings.Contains(text, mdtext.Line(s)) {
			t.Errorf("the text does not hold %q", s)
		}
	}
	if want.Title != "" && doc.Title != want.Title {
		t.Errorf("title %q, want %q", doc.Title, want.Title)
	}
	for i, h := range want.HeadingsFirst {
		if i >= len(doc.Sections) {
			t.Errorf("%d sections, want %v", len(doc.Sections), want.HeadingsFirst)
			break
		}
		if s := doc.Sections[i]; float64(s.Level) != h[0] || s.Title != h[1] {
			t.Errorf("section %d is %d %q, want %v", i, s.Level, s.Title, h)
		}
	}
	if len(doc.Sections) < want.HeadingsMin {
		t.Errorf("%d sections, want at least %d", len(doc.Sections), want.HeadingsMin)
	}
	for k, v := range want.FrontMatter {
		if diff := cmp.Diff(v, doc.Meta[k]); diff != "" {
			t.Errorf("front matter %s: %s", k, diff)
		}
	}
	checkEntries(t, want, doc)
	if want.Images != nil && len(doc.Images) != *want.Images {
		t.Errorf("%d pictures, want %d", len(doc.Images), *want.Images)
	}
	if tables := strings.Count(doc.Text, "| --- |\n"); tables > want.TableTags && want.TableTags > 0 || want.TableTags > 0 && tables == 0 {
		t.Errorf("%d tables of %d elements", tables, want.TableTags)
	}
	if want.CodeBlocks > 0 {
		if got := len(regexp.MustCompile("(?m)^ *```").FindAllString(doc.Text, -1)) / 2; got != want.CodeBlocks {
			t.Errorf("%d code blocks, want %d", got, want.CodeBlocks)
		}
	}
	if want.Type == "html" {
		for _, w := range furnitureWords {
			if strings.Contains(doc.Text, w) {
				t.Errorf("the text holds %q, which is navigation", w)
			}
		}
	}
}

// checkEntries counts the sections that API entries open: those titled by a dotted name.
func checkEntries(t *testing.T, want expectation, doc rag.Document) {
	if want.APIEntries == 0 {
		return
	}
	var entries []string
	for _, s := range doc.Sections {
		if strings.Contains(s.Title, ".") && !strings.Contains(s.Title, " ") {
			entries = append(entries, s.Title)
		}
	}
	if len(entries) != want.APIEntries {
		t.Errorf("%d API entries, want %d", len(entries), want.APIEntries)
	}
	if diff := cmp.Diff(want.APIFirst, entries[:min(len(entries), len(want.APIFirst))]); diff != "" {
		t.Error(diff)
	}
}
