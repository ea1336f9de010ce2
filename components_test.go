package rag_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestComponents(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32}))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	got := map[string]rag.Component{}
	for _, c := range eng.Components() {
		got[c.Slot] = c
	}
	for slot, want := range map[string]rag.Component{
		"splitter":     {Provider: "recursive", Detail: "recursive/"},
		"embedder":     {Provider: "ragtest.HashEmbedder", Detail: "/32/"},
		"vector_store": {Provider: "hnsw"},
		"sparse_index": {Provider: "bm25", Detail: "bm25"},
		"rerank":       {Provider: rag.None},
		"llm":          {Provider: rag.None},
		"trace":        {Provider: rag.None}, // there is no folder
		"transforms":   {Provider: "context"},
	} {
		if c := got[slot]; c.Provider != want.Provider || !strings.Contains(c.Detail, want.Detail) {
			t.Errorf("%s is %+v; want provider %s with %q in its detail", slot, c, want.Provider, want.Detail)
		}
	}
	words, err := rag.Open("", rag.WithConfig(rag.Config{Embedder: rag.ProviderConfig{Provider: rag.None}}))
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	for _, c := range words.Components() {
		if (c.Slot == "embedder" || c.Slot == "vector_store") && c.Provider != rag.None {
			t.Errorf("without an embedder, %s is %s; want none", c.Slot, c.Provider)
		}
	}
}

func TestFits(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "# A\n\nA text about herons.\n")
	f.ingest(nil)
	infos, err := f.Collections(t.Context())
	if err != nil || len(infos) != 1 {
		t.Fatalf("collections %v, %v", infos, err)
	}
	if err := f.Fits(infos[0]); err != nil {
		t.Errorf("the engine that built it does not fit: %v", err)
	}
	infos[0].Header.Embedder = "another"
	if err := f.Fits(infos[0]); !errors.Is(err, rag.ErrFingerprint) {
		t.Errorf("a collection of another embedder: %v; want ErrFingerprint", err)
	}
}
