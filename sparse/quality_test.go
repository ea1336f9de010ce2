package sparse_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/sparse"
)

// TestQuality holds the ranking on labelled sets. The bars are the best figures that a Lucene-like trial reached; the
// margin is what a change of the analyzer may cost.
func TestQuality(t *testing.T) {
	const margin = 0.01
	for _, c := range []struct {
		set    string
		ndcg10 float64
	}{
		{"scifact", 0.687}, {"cranfield", 0.369}, {"xquad-en", 0.968}, {"cmrc2018", 0.984},
	} {
		t.Run(c.set, func(t *testing.T) {
			set, err := ir.Read(testdata.Shared(t, "data", "ir", c.set))
			if err != nil {
				t.Fatal(err)
			}
			x := openMemory(t)
			fill(t, x, set)
			got, err := ir.Evaluate(set, func(query string) ([]string, error) {
				found, err := x.Search(t.Context(), set.Name, rag.SparseQuery{Text: query, K: ir.ScoreDepth})
				ids := make([]string, len(found))
				for i, m := range found {
					ids[i] = m.ID
				}
				return ids, err
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("nDCG@10 %.4f, recall@100 %.4f, %d queries", got.NDCG10, got.Recall100, got.Queries)
			if got.NDCG10 < c.ndcg10-margin {
				t.Errorf("nDCG@10 %.4f is below %.3f by more than %.2f", got.NDCG10, c.ndcg10, margin)
			}
		})
	}
}

func openMemory(t testing.TB) *sparse.BM25 {
	t.Helper()
	x, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// fill indexes the documents of the set in batches, as an ingest does.
func fill(t testing.TB, x rag.SparseIndex, set *ir.Set) {
	t.Helper()
	const batch = 200
	var recs []rag.TextRecord
	for i, d := range set.Docs {
		recs = append(recs, rag.TextRecord{ID: d.ID, DocID: d.ID, Text: d.FullText()})
		if len(recs) == batch || i == len(set.Docs)-1 {
			if err := x.Upsert(t.Context(), set.Name, recs); err != nil {
				t.Fatal(err)
			}
			recs = recs[:0]
		}
	}
}
