package rag_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

// noDelete is a sparse index that cannot delete while down is set.
type noDelete struct {
	*sparse.BM25
	down bool
}

func (n *noDelete) Delete(ctx context.Context, collection string, ids []string) error {
	if n.down {
		return errors.New("down")
	}
	return n.BM25.Delete(ctx, collection, ids)
}

func newNoDelete(t *testing.T) *noDelete {
	t.Helper()
	index, err := sparse.OpenBM25(t.TempDir(), sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	return &noDelete{BM25: index}
}

// A run that begins by finishing another's work, and is then cut short itself, leaves the mark that the next one needs.
func TestARunCutShortAfterARepairIsMarkedUnfinished(t *testing.T) {
	index := newNoDelete(t)
	f := newFixture(t, rag.WithSparseIndex(index))
	for version := range 3 {
		for i := range 4 {
			f.write(fmt.Sprintf("d%d.md", i), prose(fmt.Sprintf("river%dv%d", i, version), 3))
		}
		index.down = false // the repair of what the run before left succeeds, and then the index fails
		_, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}, Progress: func(rag.Progress) { index.down = true }})
		if version == 0 {
			continue // nothing to delete yet
		}
		if err == nil {
			t.Fatalf("run %d did not fail", version)
		}
		rep, err := f.Verify(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Orphans) == 0 || !rep.Unfinished || rep.Run != rag.RunIngest {
			t.Errorf("run %d: %d orphans, unfinished %v; want some, and true", version, len(rep.Orphans), rep.Unfinished)
		}
	}
	index.down = false
	f.ingest(nil)
	f.sound()
}

// Records that are left of old versions take no place from live ones, however many there are.
func TestOrphansTakeNoPlaceFromLiveChunks(t *testing.T) {
	index := newNoDelete(t)
	f := newFixture(t, rag.WithSparseIndex(index))
	f.write("live.txt", "One lonely otter swims.")
	f.ingest(nil)
	var recs []rag.TextRecord
	for i := range 100 {
		recs = append(recs, rag.TextRecord{ID: fmt.Sprintf("orphan%03d", i), Text: "otter otter"})
	}
	if err := index.Upsert(t.Context(), f.Config().Collection, recs); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []rag.Mode{rag.Sparse, rag.Hybrid} {
		if hits := f.search(rag.Query{Text: "otter", Mode: mode, TopK: 1}).Hits; len(hits) != 1 {
			t.Errorf("%s: %d hits, want the one live chunk", mode, len(hits))
		}
	}
	f.write("other.txt", "A second otter. ")
	f.ingest(nil)
	if hits := f.search(rag.Query{Text: "otter", Mode: rag.Sparse, TopK: 60}).Hits; len(hits) != 2 {
		t.Errorf("%d hits, want two", len(hits))
	}
}
