package postgres_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
)

func openSparse(t testing.TB, key string, c postgres.SparseConfig) *postgres.Sparse {
	t.Helper()
	c.Config = database(t, key)
	x, err := postgres.OpenSparse(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSparse(t *testing.T) {
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return openSparse(t, dir, postgres.SparseConfig{}) }, ragtest.Slow())
}

// The embedded index, over the same texts, gives the same passages in the same order with the same scores.
func TestSparseRanksAsEmbedded(t *testing.T) {
	racetest.Skip(t)
	for _, name := range []string{"scifact", "cmrc2018"} {
		t.Run(name, func(t *testing.T) {
			set, err := ir.Read(testdata.Shared(t, "data", "ir", name))
			if err != nil {
				t.Fatal(err)
			}
			stored := openSparse(t, "", postgres.SparseConfig{Title: 2})
			defer stored.Close()
			embedded, err := sparse.OpenBM25("", sparse.BM25Config{Fields: sparse.FieldWeights{Title: 2}})
			if err != nil {
				t.Fatal(err)
			}
			fillBoth(t, set, stored, embedded)
			var quality [2]float64
			for i, x := range []rag.SparseIndex{embedded, stored} {
				got, err := ir.Evaluate(set, func(query string) ([]string, error) {
					found, err := x.Search(t.Context(), set.Name, rag.SparseQuery{Text: query, K: ir.ScoreDepth})
					return matchIDs(found), err
				})
				if err != nil {
					t.Fatal(err)
				}
				quality[i] = got.NDCG10
			}
			t.Logf("nDCG@10 %.4f embedded, %.4f stored, %d documents", quality[0], quality[1], len(set.Docs))
			if math.Abs(quality[0]-quality[1]) > 1e-9 {
				t.Errorf("nDCG@10 is %v embedded and %v stored", quality[0], quality[1])
			}
			for i, q := range set.Queries {
				if i == 100 {
					break
				}
				compareWords(t, embedded, stored, set.Name, q.Text)
			}
		})
	}
}

// fillBoth indexes the documents of the set in batches, as an ingest does, and a part of them twice.
func fillBoth(t *testing.T, set *ir.Set, indexes ...rag.SparseIndex) {
	t.Helper()
	var recs []rag.TextRecord
	for _, d := range set.Docs {
		recs = append(recs, rag.TextRecord{ID: d.ID, DocID: d.ID, Title: d.Title, Text: d.FullText()})
	}
	recs = append(recs, recs[:min(len(recs), 500)]...)
	for _, x := range indexes {
		for batch := range slices.Chunk(recs, 500) {
			if err := x.Upsert(t.Context(), set.Name, batch); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Delete(t.Context(), set.Name, []string{recs[0].ID, recs[7].ID}); err != nil {
			t.Fatal(err)
		}
	}
}

// compareWords compares scores to the last digits: the logarithm is another library's.
func compareWords(t *testing.T, embedded, stored rag.SparseIndex, collection, text string) {
	t.Helper()
	for _, q := range []rag.SparseQuery{{Text: text, K: 20}, {Text: `"` + text + `" ` + text[:len(text)/2] + "*", K: 20, Match: rag.TextMatch{Prefix: true}}} {
		want, err := embedded.Search(t.Context(), collection, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stored.Search(t.Context(), collection, q)
		if err != nil {
			t.Fatal(err)
		}
		same := slices.EqualFunc(want, got, func(a, b rag.Match) bool { return a.ID == b.ID && math.Abs(a.Score-b.Score) <= 1e-9*a.Score })
		if !same {
			t.Errorf("%q: got %v, want %v", q.Text, got, want)
		}
	}
}

// What is marked, and which words a text has, is what the embedded index says.
func TestMarksAsEmbedded(t *testing.T) {
	stored := openSparse(t, "", postgres.SparseConfig{})
	defer stored.Close()
	embedded, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	recs := []rag.TextRecord{
		{ID: "a", Text: "The harbour pilots of Zürich moor boats.", Language: "en"}, {ID: "b", Text: "Ein Lotse im Hafen.", Language: "de"},
		{ID: "c", Text: "年假有十五天", Language: "zh"}, {ID: "d", Text: "A boat."},
	}
	for _, x := range []rag.SparseIndex{stored, embedded} {
		if err := x.Upsert(t.Context(), "c", recs); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"pilot boats in harbours", "年假", "the", "harb* \"of Zürich\"", "Häfen"} {
		q := rag.SparseQuery{Text: text, Match: rag.TextMatch{Prefix: true, Phrase: true}}
		for _, collection := range []string{"c", "unknown"} {
			got, err := stored.Cover(t.Context(), collection, text, recs)
			want, err2 := embedded.Cover(t.Context(), collection, text, recs)
			if diff := cmp.Diff(want, got); diff != "" || err != nil || err2 != nil {
				t.Errorf("cover %q in %s: %v, %v (-want +got):\n%s", text, collection, err, err2, diff)
			}
		}
		got, err := stored.Highlight(t.Context(), "c", q, recs)
		want, err2 := embedded.Highlight(t.Context(), "c", q, recs)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || err2 != nil {
			t.Errorf("highlight %q: %v, %v (-want +got):\n%s", text, err, err2, diff)
		}
	}
}

func matchIDs(matches []rag.Match) []string {
	ids := make([]string, len(matches))
	for i, m := range matches {
		ids[i] = m.ID
	}
	return ids
}
