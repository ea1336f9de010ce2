package fusion_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/fusion"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestConformance(t *testing.T) {
	var p rag.Providers
	fusion.Register(&p)
	if diff := cmp.Diff([]string{"dbsf", "rrf", "tmm", "weighted", "zscore"}, p.Fusers.Names()); diff != "" {
		t.Fatalf("registered (-want +got):\n%s", diff)
	}
	for _, name := range p.Fusers.Names() {
		t.Run(name, func(t *testing.T) {
			f, err := p.Fusers.New(name, rag.Env{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ragtest.TestFuser(t, f)
		})
	}
}

func TestRRFSumsReciprocalRanks(t *testing.T) {
	f, err := fusion.RRF(fusion.RRFConfig{K: 60})
	if err != nil {
		t.Fatal(err)
	}
	got := f([]rag.Ranking{
		{Weight: 1, Matches: []rag.Match{{ID: "p"}, {ID: "x"}}},
		{Weight: 1, Matches: []rag.Match{{ID: "q"}, {ID: "r"}, {ID: "s"}, {ID: "t"}, {ID: "x"}}},
	})
	want := 1.0/62 + 1.0/65 // x stands at ranks 2 and 5
	if got[0].ID != "x" || math.Abs(got[0].Score-want) > 1e-15 {
		t.Errorf("got %v first, want x with %v", got[0], want)
	}
}

func TestRRFSettings(t *testing.T) {
	var p rag.Providers
	fusion.Register(&p)
	f, err := p.Fusers.New("rrf", rag.Env{}, json.RawMessage(`{"k": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	got := f([]rag.Ranking{{Weight: 3, Matches: []rag.Match{{ID: "a"}, {ID: "b"}}}})
	if diff := cmp.Diff([]rag.Match{{ID: "a", Score: 1.5}, {ID: "b", Score: 1}}, got); diff != "" {
		t.Errorf("k 1, weight 3 (-want +got):\n%s", diff)
	}
	for _, k := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := fusion.RRF(fusion.RRFConfig{K: k}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("k %v: got error %v, want ErrInvalid", k, err)
		}
	}
}

func TestWeightedStretchesEachList(t *testing.T) {
	f, err := fusion.Weighted(fusion.WeightedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	got := f([]rag.Ranking{
		{Weight: 0.7, Matches: []rag.Match{{ID: "a", Score: 0.5}, {ID: "b", Score: 0}, {ID: "c", Score: -0.5}}},
		{Weight: 0.3, Matches: []rag.Match{{ID: "c", Score: 12}, {ID: "d", Score: 4}}},
		{Weight: 0.1, Matches: []rag.Match{{ID: "d", Score: 7}}},
	})
	want := []rag.Match{{ID: "a", Score: 0.7}, {ID: "b", Score: 0.35}, {ID: "c", Score: 0.3}, {ID: "d", Score: 0.1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fused (-want +got):\n%s", diff)
	}
}

// The numbers of these tables are worked out by hand from the definitions.
func TestPoints(t *testing.T) {
	scores := func(xs ...float64) (list []rag.Match) {
		for i, x := range xs {
			list = append(list, rag.Match{ID: string(rune('a' + i)), Score: x})
		}
		return list
	}
	rootOf2 := math.Sqrt2 // 5, 3, 3, 1 has the mean 3 and the deviation sqrt(2)
	for _, c := range []struct {
		fuser, stage string
		in           []rag.Match
		want         []float64
	}{
		{"weighted", rag.StageDense, scores(5, 3, 3, 1), []float64{1, 0.5, 0.5, 0}},
		{"weighted", rag.StageDense, scores(-0.2, -0.6), []float64{1, 0}},
		{"weighted", rag.StageDense, scores(7), []float64{1}},
		{"weighted", rag.StageDense, scores(0, 0), []float64{1, 1}},
		{"zscore", rag.StageDense, scores(5, 3, 3, 1), []float64{4 / rootOf2, 2 / rootOf2, 2 / rootOf2, 0}},
		{"zscore", rag.StageDense, scores(-0.2, -0.6), []float64{2, 0}},
		{"zscore", rag.StageDense, scores(7), []float64{1}},
		{"zscore", rag.StageDense, scores(2, 2), []float64{1, 1}},
		{"dbsf", rag.StageDense, scores(5, 3, 3, 1), []float64{0.5 + 2/(6*rootOf2), 0.5, 0.5, 0.5 - 2/(6*rootOf2)}},
		{"dbsf", rag.StageDense, scores(-0.2, -0.6), []float64{0.5 + 1.0/6, 0.5 - 1.0/6}},
		{"dbsf", rag.StageDense, scores(7), []float64{0.5}},
		{"dbsf", rag.StageDense, scores(2, 2), []float64{0.5, 0.5}},
		{"tmm", rag.StageDense, scores(0.6, 0.2, -0.2), []float64{1, 0.75, 0.5}},
		{"tmm", rag.StageDense, scores(-1), []float64{1}},
		{"tmm", rag.StageSparse, scores(8, 4, 2), []float64{1, 0.5, 0.25}},
		{"tmm", rag.StageSparse, scores(0), []float64{1}},
		{"tmm", "other", scores(8, 4, 2), []float64{1, 1.0 / 3, 0}},
	} {
		f, err := rag.Default.Fusers.New(c.fuser, rag.Env{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := f([]rag.Ranking{{Stage: c.stage, Weight: 2, Matches: c.in}})
		for i := range got {
			if want := 2 * c.want[i]; got[i].ID != c.in[i].ID || math.Abs(got[i].Score-want) > 1e-12 {
				t.Errorf("%s of %s %v: got %v at %d, want %v", c.fuser, c.stage, c.in, got[i], i, want)
			}
		}
	}
}

// What a list is divided by must neither run over nor vanish, and scores that lie close must not be lost in rounding.
func TestZScoreKeepsItsPrecision(t *testing.T) {
	f, err := fusion.ZScore(fusion.ZScoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	rootOf2 := math.Sqrt2
	for name, scores := range map[string][]float64{
		"huge":  {1.2e308, 0, 0, -1.2e308},
		"tiny":  {5e-200, 3e-200, 3e-200, 1e-200},
		"close": {1, 1 - 1e-9, 1 - 1e-9, 1 - 2e-9},
	} {
		var list []rag.Match
		for i, x := range scores {
			list = append(list, rag.Match{ID: string(rune('a' + i)), Score: x})
		}
		got := f([]rag.Ranking{{Stage: rag.StageDense, Weight: 1, Matches: list}})
		for i, want := range []float64{4 / rootOf2, 2 / rootOf2, 2 / rootOf2, 0} {
			if !(math.Abs(got[i].Score-want) < 1e-5) {
				t.Errorf("%s: got %v at %d, want %v", name, got[i], i, want)
			}
		}
	}
}
