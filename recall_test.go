package rag_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// faulty is a vector store whose index is broken until it is built anew.
type faulty struct {
	*vectorstore.Flat
	recall  rag.Recall
	rebuilt int
}

func (f *faulty) Recall(context.Context, string) (rag.Recall, error) { return f.recall, nil }

func (f *faulty) MeasureRecall(context.Context, string) (rag.Recall, error) { return f.recall, nil }

func (f *faulty) Rebuild(context.Context, string) error {
	f.rebuilt++
	f.recall = rag.Recall{K: 10, Sampled: 3, Value: 1, Records: 3}
	return nil
}

func TestVerifyMeasuresRecallAndRepairBuildsTheIndexAnew(t *testing.T) {
	flat, err := vectorstore.OpenFlat(t.TempDir(), vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flat.Close() })
	store := &faulty{Flat: flat, recall: rag.Recall{K: 10, Sampled: 3, Value: 0.5, Records: 3, Unreachable: 2}}
	f := newFixture(t, rag.WithVectorStore(store))
	f.write("a.md", prose("river", 3))
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Recall(t.Context(), ""); err != nil || got.Value != 0.5 {
		t.Errorf("recall: %+v, %v", got, err)
	}
	rep, err := f.Verify(t.Context(), "")
	if err != nil || rep.OK || rep.Recall == nil || rep.Recall.Unreachable != 2 || store.rebuilt != 0 {
		t.Fatalf("verify: %+v, %v; rebuilt %d times", rep, err, store.rebuilt)
	}
	rep, err = f.Repair(t.Context(), "")
	if err != nil || rep.OK || !rep.Repaired || rep.After == nil || !rep.After.OK || store.rebuilt != 1 {
		t.Fatalf("repair: %+v, %v; rebuilt %d times", rep, err, store.rebuilt)
	}
	rep, err = f.Verify(t.Context(), "")
	if diff := cmp.Diff(&store.recall, rep.Recall); err != nil || !rep.OK || diff != "" {
		t.Errorf("after the repair: %+v, %v\n%s", rep, err, diff)
	}
}
