package sparse_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

func TestCover(t *testing.T) {
	x, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	recs := []rag.TextRecord{
		{ID: "1", Text: "carried leave", Language: "en"}, {ID: "2", Text: "leave of absence", Language: "en"}, {ID: "3", Text: "年假为二十五天", Language: "zh"},
	}
	if err := x.Upsert(t.Context(), "c", recs); err != nil {
		t.Fatal(err)
	}
	got, err := x.Cover(t.Context(), "c", "carrying the leave, unicorn", recs[:2])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]bool{{true, true, false}, {false, true, false}}, got.Found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if w := got.Weights; len(w) != 3 || !(w[2] > w[0] && w[0] > w[1] && w[1] > 0) {
		t.Errorf("weights %v do not rise with rarity", w)
	}
	got, err = x.Cover(t.Context(), "c", "年假几天", recs[2:])
	if err != nil || !slices.Contains(got.Found[0], true) || !slices.Contains(got.Found[0], false) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := x.Cover(t.Context(), "unknown", "leave", nil); err != nil || len(got.Weights) != 1 {
		t.Errorf("unknown collection: got %+v, %v", got, err)
	}
}
