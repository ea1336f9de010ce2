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
	if diff := cmp.Diff([]string{"rrf", "weighted"}, p.Fusers.Names()); diff != "" {
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
