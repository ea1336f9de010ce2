package rag_test

import (
	"context"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

// slowWords is a word index whose first answer takes so long that something else happens meanwhile.
type slowWords struct {
	*sparse.BM25
	once      sync.Once
	meanwhile func()
	part      bool // the first answer has one passage of what was written meanwhile
}

func (x *slowWords) Search(ctx context.Context, collection string, q rag.SparseQuery) ([]rag.Match, error) {
	list, err := x.BM25.Search(ctx, collection, q)
	if x.meanwhile != nil {
		x.once.Do(func() {
			x.meanwhile()
			if x.part {
				list, err = x.BM25.Search(ctx, collection, q)
				list = list[:min(1, len(list))]
			}
		})
	}
	return list, err
}

// A document that takes a new version while the indexes are asked is found in the new one: the old one is no longer live.
func TestASearchThatAnIngestOvertakes(t *testing.T) {
	bm25, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer bm25.Close()
	words := &slowWords{BM25: bm25}
	eng, err := shelfEngine(t.TempDir(), rag.WithSparseIndex(words))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	ingest := func(text string) {
		t.Helper()
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("paper.txt", []byte(text))}}); err != nil {
			t.Error(err)
		}
	}
	ingest("The falcon nests on old towers.")
	words.meanwhile = func() { ingest("The falcon nests on new towers.") }
	res, err := eng.Search(t.Context(), rag.Query{Text: "falcon", Mode: rag.Sparse})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Chunk.Text != "The falcon nests on new towers." {
		t.Errorf("got %+v, %v, want the new version", res.Hits, err)
	}
}

// A new document of which a lane has seen a part before it was whole is found whole.
func TestASearchThatANewDocumentOvertakes(t *testing.T) {
	bm25, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer bm25.Close()
	words := &slowWords{BM25: bm25, part: true}
	eng, err := shelfEngine(t.TempDir(), rag.WithSparseIndex(words))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("other.txt", []byte("An owl."))}}); err != nil {
		t.Fatal(err)
	}
	text := prose("falcon", 40)
	words.meanwhile = func() {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("paper.txt", []byte(text))}}); err != nil {
			t.Error(err)
		}
	}
	res, err := eng.Search(t.Context(), rag.Query{Text: "falcon", Mode: rag.Sparse, TopK: 100})
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := eng.DocumentChunks(t.Context(), "", "paper.txt", 0, 0)
	if err != nil || len(chunks) < 2 || len(res.Hits) != len(chunks) {
		t.Errorf("%d hits, want all %d passages: %v", len(res.Hits), len(chunks), err)
	}
}
