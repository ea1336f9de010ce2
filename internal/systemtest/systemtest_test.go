package systemtest_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

func TestSystem(t *testing.T) {
	s := systemtest.New(t, "handbook")
	s.Write("README.md", "```console\n$ rag ingest . --config none.yaml\n…\n$ rag list\ncollection  documents…\ndefault  …  none\n```\n")
	s.Write("none.yaml", "embedder: none\n")
	s.Write("rag.yaml", "embedder: none\n")
	s.Run("ingest", "--nothing").Exit(2).Says("--nothing")
	s.Transcript("README.md")
	var out struct{ Hits []any }
	s.Run("search", "annual leave", "--json").Done().JSON(&out)
	if len(out.Hits) == 0 {
		t.Error("no hits")
	}
	t.Run("mcp", func(t *testing.T) {
		c := s.In(t).MCP()
		if !slices.Contains(c.Tools(), "query_knowledge_hub") {
			t.Error(c.Tools())
		}
		if _, text, data := c.Call("query_knowledge_hub", map[string]any{"query": "annual leave"}); !strings.Contains(text, "[1]") || len(data) == 0 {
			t.Error(text, data)
		}
	})
	for name, serve := range map[string]func(*systemtest.System) string{
		"/":        func(s *systemtest.System) string { return s.Dashboard() },
		"/healthz": func(s *systemtest.System) string { return s.HTTP() },
	} {
		t.Run(name, func(t *testing.T) {
			res, err := http.Get(serve(s.In(t)) + name)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(res, err)
			}
			res.Body.Close()
		})
	}
}
