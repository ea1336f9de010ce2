package main

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestEmbedder(t *testing.T) {
	ragtest.TestEmbedder(t, func(*testing.T) rag.Embedder { return TrigramEmbedder{} })
}

func TestLoader(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return NotesLoader{} },
		ragtest.Sample{Name: "a.notes", Data: []byte(`[{"title":"Ferns","body":"Spores."}]`), Want: "Spores."})
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "Ferns: ") {
		t.Errorf("printed %q", out.String())
	}
}
