package ragtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestFuser checks that f keeps the contract of [rag.Fuser]. It runs f on lists made for it and needs nothing else.
func TestFuser(t *testing.T, f rag.Fuser) {
	t.Helper()
	for _, c := range []struct {
		sentence string
		check    func(*testing.T, rag.Fuser)
	}{
		{"no lists and empty lists give an empty result", fuserEmpty},
		{"one list keeps its order", fuserOneList},
		{"every document of a list is in the result exactly once", fuserComplete},
		{"the result is best first, ties by ID", fuserSorted},
		{"a list of weight 0 is left out", fuserZeroWeight},
		{"a list with a score that is not finite is left out", fuserNotFinite},
		{"a document twice in one list counts once, at its best place", fuserTwice},
		{"first in both lists is first", fuserUnanimous},
		{"a larger weight does not lower the documents of its list", fuserWeight},
		{"one element, equal scores and negative scores give finite scores", fuserFinite},
		{"the same lists give the same result, and they are not changed", fuserPure},
		{"many goroutines get the same result", fuserConcurrent},
	} {
		t.Run(c.sentence, func(t *testing.T) { c.check(t, f) })
	}
}

func fuserEmpty(t *testing.T, f rag.Fuser) {
	for name, lists := range map[string][]rag.Ranking{
		"nil": nil, "no lists": {}, "empty list": {{Stage: rag.StageDense, Weight: 1}},
		"two empty lists": {{Stage: rag.StageDense, Weight: 1}, {Stage: rag.StageSparse, Weight: 1, Matches: []rag.Match{}}},
	} {
		if got := f(lists); len(got) != 0 {
			t.Errorf("%s: got %v, want nothing", name, got)
		}
	}
}

func fuserOneList(t *testing.T, f rag.Fuser) {
	dense := ranking(rag.StageDense, 1, "c", "a", "d", "b")
	want := []string{"c", "a", "d", "b"}
	if got := matchIDs(f([]rag.Ranking{dense})); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := matchIDs(f([]rag.Ranking{dense, {Stage: rag.StageSparse, Weight: 1}})); !slices.Equal(got, want) {
		t.Errorf("beside an empty list: got %v, want %v", got, want)
	}
}

func fuserComplete(t *testing.T, f rag.Fuser) {
	for seed := range uint64(50) {
		lists := randomRankings(seed)
		want := map[string]bool{}
		for _, l := range lists {
			for _, m := range l.Matches {
				want[m.ID] = true
			}
		}
		got := map[string]bool{}
		for _, m := range f(lists) {
			if got[m.ID] {
				t.Fatalf("seed %d: %s is there twice", seed, m.ID)
			}
			got[m.ID] = true
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: IDs (-want +got):\n%s", seed, diff)
		}
	}
}

func fuserSorted(t *testing.T, f rag.Fuser) {
	for seed := range uint64(50) {
		got := f(randomRankings(seed))
		if !slices.IsSortedFunc(got, func(a, b rag.Match) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		}) {
			t.Fatalf("seed %d: not sorted: %v", seed, got)
		}
	}
	// Each document is first once and second once, in lists of which nothing is known, so nothing but the ID can decide.
	got := f([]rag.Ranking{ranking("one", 1, "b", "a"), ranking("other", 1, "a", "b")})
	if want := []string{"a", "b"}; !slices.Equal(matchIDs(got), want) || got[0].Score != got[1].Score {
		t.Errorf("got %v, want a tie ordered %v", got, want)
	}
}

func fuserZeroWeight(t *testing.T, f rag.Fuser) {
	kept := ranking(rag.StageDense, 1, "a", "b")
	want := f([]rag.Ranking{kept})
	got := f([]rag.Ranking{ranking(rag.StageSparse, 0, "b", "x"), kept})
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("with a list of weight 0 (-want +got):\n%s", diff)
	}
}

func fuserNotFinite(t *testing.T, f rag.Fuser) {
	kept := ranking(rag.StageDense, 1, "a", "b")
	want := f([]rag.Ranking{kept})
	for _, score := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		damaged := ranking(rag.StageSparse, 1, "b", "x", "y")
		damaged.Matches[1].Score = score
		if diff := gocmp.Diff(want, f([]rag.Ranking{damaged, kept})); diff != "" {
			t.Errorf("with a list that has the score %v (-want +got):\n%s", score, diff)
		}
	}
}

func fuserTwice(t *testing.T, f rag.Fuser) {
	sparse := ranking(rag.StageSparse, 1, "c", "b")
	want := f([]rag.Ranking{ranking(rag.StageDense, 1, "a", "b", "c"), sparse})
	repeated := ranking(rag.StageDense, 1, "a", "b", "c")
	repeated.Matches = append(repeated.Matches, repeated.Matches...)
	if diff := gocmp.Diff(want, f([]rag.Ranking{repeated, sparse})); diff != "" {
		t.Errorf("with a list that repeats itself (-want +got):\n%s", diff)
	}
}

func fuserUnanimous(t *testing.T, f rag.Fuser) {
	got := f([]rag.Ranking{ranking(rag.StageDense, 1, "z", "a", "b"), ranking(rag.StageSparse, 1, "z", "c", "a")})
	if len(got) == 0 || got[0].ID != "z" {
		t.Errorf("got %v, want z first", got)
	}
}

func fuserWeight(t *testing.T, f rag.Fuser) {
	lists := func(w float64) []rag.Ranking {
		return []rag.Ranking{ranking(rag.StageDense, 1, "a", "b"), ranking(rag.StageSparse, w, "b", "a")}
	}
	if got := matchIDs(f(lists(3))); got[0] != "b" {
		t.Errorf("sparse weight 3: got %v, want b first", got)
	}
	if got := matchIDs(f(lists(0.3))); got[0] != "a" {
		t.Errorf("sparse weight 0.3: got %v, want a first", got)
	}
}

func fuserFinite(t *testing.T, f rag.Fuser) {
	for name, matches := range map[string][]rag.Match{
		"one element":     {{ID: "a", Score: 0.3}},
		"equal scores":    {{ID: "a", Score: 2}, {ID: "b", Score: 2}},
		"zero scores":     {{ID: "a"}, {ID: "b"}},
		"negative scores": {{ID: "a", Score: -0.1}, {ID: "b", Score: -0.9}},
		"huge scores":     {{ID: "a", Score: math.MaxFloat64}, {ID: "b", Score: -math.MaxFloat64}},
		"tiny scores":     {{ID: "a", Score: 5e-324}, {ID: "b", Score: -5e-324}},
	} {
		got := f([]rag.Ranking{{Stage: rag.StageDense, Weight: 1, Matches: matches}})
		if len(got) != len(matches) {
			t.Errorf("%s: got %v, want %d matches", name, got, len(matches))
		}
		for _, m := range got {
			if math.IsNaN(m.Score) || math.IsInf(m.Score, 0) {
				t.Errorf("%s: the score of %s is %v", name, m.ID, m.Score)
			}
		}
	}
}

func fuserPure(t *testing.T, f rag.Fuser) {
	for seed := range uint64(20) {
		lists := randomRankings(seed)
		first := f(lists)
		if diff := gocmp.Diff(randomRankings(seed), lists); diff != "" {
			t.Fatalf("seed %d: the lists were changed (-want +got):\n%s", seed, diff)
		}
		if diff := gocmp.Diff(first, f(lists)); diff != "" {
			t.Fatalf("seed %d: second call (-first +second):\n%s", seed, diff)
		}
	}
}

func fuserConcurrent(t *testing.T, f rag.Fuser) {
	lists := randomRankings(1)
	want := f(lists)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if diff := gocmp.Diff(want, f(lists)); diff != "" {
				t.Errorf("in a goroutine (-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// ranking makes a list of the IDs with scores 1, 1/2, 1/3, …
func ranking(stage string, weight float64, ids ...string) rag.Ranking {
	r := rag.Ranking{Stage: stage, Weight: weight}
	for i, id := range ids {
		r.Matches = append(r.Matches, rag.Match{ID: id, Score: 1 / float64(i+1)})
	}
	return r
}

// randomRankings makes up to three lists over one small set of IDs, with repeated scores and signs of both kinds.
func randomRankings(seed uint64) []rag.Ranking {
	rnd := rand.New(rand.NewPCG(seed, 1))
	lists := make([]rag.Ranking, 1+rnd.IntN(3))
	for i := range lists {
		lists[i] = rag.Ranking{Stage: fmt.Sprintf("lane%d", i), Weight: float64(1+rnd.IntN(3)) / 2}
		for _, n := range rnd.Perm(30)[:rnd.IntN(20)] {
			lists[i].Matches = append(lists[i].Matches, rag.Match{ID: fmt.Sprintf("d%02d", n), Score: float64(rnd.IntN(9) - 4)})
		}
		slices.SortFunc(lists[i].Matches, func(a, b rag.Match) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		})
	}
	return lists
}

// matchIDs returns the IDs in order.
func matchIDs(matches []rag.Match) []string {
	ids := make([]string, len(matches))
	for i, m := range matches {
		ids[i] = m.ID
	}
	return ids
}
