// Package fusion joins the ranked lists of several lanes into one.
//
//	fuse, err := fusion.RRF(fusion.RRFConfig{})
//	joined := fuse([]rag.Ranking{{Stage: rag.StageDense, Weight: 1, Matches: dense}, {Stage: rag.StageSparse, Weight: 1, Matches: sparse}})
//
// [RRF] looks at ranks, the others at scores: [Weighted] (min-max, also known as relative score fusion), [TMM] (the same
// from the least score there can be), [ZScore] and [DBSF] (by mean and deviation). Where they come from stands at each;
// bench/quality compares them.
//
// Every fuser here is pure and safe for concurrent use. Lists are taken in the order given, which is best first. An ID
// that stands twice in one list counts once, at its better place; one that a list lacks gets nothing from it; equal sums
// are ordered by ID. A list is left out if its weight is 0, or less, or not a number, and also if one of its scores is
// not finite: the engine takes such a lane for failed and does not hand it on.
package fusion

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// fuse sums what points gives each match of each list, once per list and ID, and sorts the sums.
// points returns, for one list without repetitions, the unweighted points of its matches, in order.
func fuse(lists []rag.Ranking, points func(stage string, matches []rag.Match) []float64) []rag.Match {
	place := map[string]int{}
	var joined []rag.Match
	for _, l := range lists {
		if !isPositive(l.Weight) || slices.ContainsFunc(l.Matches, func(m rag.Match) bool { return !isFinite(m.Score) }) {
			continue
		}
		matches := distinct(l.Matches)
		for i, p := range points(l.Stage, matches) {
			id := matches[i].ID
			at, seen := place[id]
			if !seen {
				at = len(joined)
				place[id] = at
				joined = append(joined, rag.Match{ID: id})
			}
			joined[at].Score += l.Weight * p
		}
	}
	slices.SortFunc(joined, func(a, b rag.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return joined
}

// distinct keeps the first, which is the best, match of each ID.
func distinct(matches []rag.Match) []rag.Match {
	seen := make(map[string]bool, len(matches))
	kept := make([]rag.Match, 0, len(matches))
	for _, m := range matches {
		if !seen[m.ID] {
			seen[m.ID] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// unit divides scores by the largest of them, the sign left aside, so that sums and squares of them cannot overflow.
func unit(matches []rag.Match) []float64 {
	most := 0.0
	for _, m := range matches {
		most = max(most, math.Abs(m.Score))
	}
	scores := make([]float64, len(matches))
	for i, m := range matches {
		if most > 0 {
			scores[i] = m.Score / most
		}
	}
	return scores
}

// spread returns the mean and the standard deviation of a list, 0 and 0 of an empty one.
func spread(scores []float64) (mean, deviation float64) {
	n := float64(max(1, len(scores)))
	for _, x := range scores {
		mean += x / n
	}
	for _, x := range scores {
		deviation += (x - mean) * (x - mean) / n
	}
	return mean, math.Sqrt(deviation)
}

// all returns n times x.
func all(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

func isFinite(x float64) bool { return x-x == 0 }

func isPositive(x float64) bool { return x > 0 && isFinite(x) }
