package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/ragtest"
)

// block returns the first block of a language in a page.
func block(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("the page has no block of %s", language)
	}
	return text
}

// The settings of the page work as they stand there, and its program is the one that is compiled here.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(example), block(t, string(page), "go")) {
		t.Error("the program of docs/postgres.md is not that of example_test.go")
	}
	at := database(t, "")
	loaded, err := config.Parse("rag.yaml", []byte(block(t, string(page), "yaml")), func(name string) (string, bool) { return at.DSN, name == "RAG_DSN" })
	if err != nil {
		t.Fatal(err)
	}
	loaded.Config.Transforms = []rag.ProviderConfig{}
	eng, err := rag.Open("", rag.WithConfig(loaded.Config), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte("# Leave\n\nAnnual leave is 25 days.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}}); err != nil {
		t.Fatal(err)
	}
	res, err := eng.Search(t.Context(), rag.Query{Text: "annual leave"})
	if err != nil || len(res.Hits) != 1 || res.Mode != rag.Hybrid {
		t.Errorf("search: %+v, %v", res, err)
	}
	if _, err := eng.Delete(t.Context(), rag.DeleteRequest{All: true}); err != nil {
		t.Error(err)
	}
}
