package rag_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

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

// reader is an OCR that sees nothing.
type reader struct{}

func (reader) Recognize(context.Context, []byte, int) ([]rag.OCRWord, error) { return nil, nil }

// memory is a cache of embeddings that lives as long as the test.
type memory map[rag.EmbedKey][]float32

func (m memory) Get(_ context.Context, keys []rag.EmbedKey) ([][]float32, error) {
	list := make([][]float32, len(keys))
	for i, k := range keys {
		list[i] = m[k]
	}
	return list, nil
}

func (m memory) Put(_ context.Context, keys []rag.EmbedKey, vectors [][]float32) error {
	for i, k := range keys {
		m[k] = vectors[i]
	}
	return nil
}

// TestWhatOptionsGiveIsUsed is of the options that no other test needs.
func TestWhatOptionsGiveIsUsed(t *testing.T) {
	cache, day := memory{}, time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	f := newFixture(t, rag.WithOCR(reader{}), rag.WithVisionModel(&ragtest.Script{}), rag.WithEmbedCache(cache), rag.WithClock(func() time.Time { return day }))
	f.write("a.md", "# A\n\nA text about herons.\n")
	f.ingest(nil)
	if len(cache) == 0 {
		t.Error("the cache was given no vector")
	}
	another := newFixture(t, rag.WithEmbedCache(cache))
	another.write("a.md", "# A\n\nA text about herons.\n")
	another.ingest(nil)
	if n := another.embedder.Texts(); n > 0 {
		t.Errorf("%d texts were embedded that the cache has", n)
	}
	for doc, err := range f.Documents(t.Context(), "") {
		if err != nil || !doc.Ingested.Equal(day) {
			t.Errorf("ingested at %s, %v; the clock says %s", doc.Ingested, err, day)
		}
	}
	want := map[string]string{"ocr": "rag_test.reader", "vision_llm": "ragtest.Script", "llm": rag.None}
	for _, c := range f.Components() {
		if name, asked := want[c.Slot]; asked && c.Provider != name {
			t.Errorf("%s is %s, want %s", c.Slot, c.Provider, name)
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
