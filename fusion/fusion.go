// Package fusion joins the ranked lists of several lanes into one.
//
//	fuse, err := fusion.RRF(fusion.RRFConfig{})
//	joined := fuse([]rag.Ranking{{Stage: rag.StageDense, Weight: 1, Matches: dense}, {Stage: rag.StageSparse, Weight: 1, Matches: sparse}})
//
// Every fuser here is pure and safe for concurrent use. Lists are taken in the order given, which is best first.
// A list of weight 0 (or less, or not a number) is left out, an ID that stands twice in one list counts once, at its
// better place, and equal sums are ordered by ID.
package fusion

import (
	"cmp"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// fuse sums what share gives each match of each list, once per list and ID, and sorts the sums.
// share returns, for one list without repetitions, the unweighted points of its matches, in order.
func fuse(lists []rag.Ranking, share func(matches []rag.Match) []float64) []rag.Match {
	place := map[string]int{}
	var joined []rag.Match
	for _, l := range lists {
		if !(l.Weight > 0) {
			continue
		}
		matches := distinct(l.Matches)
		for i, points := range share(matches) {
			id := matches[i].ID
			at, seen := place[id]
			if !seen {
				at = len(joined)
				place[id] = at
				joined = append(joined, rag.Match{ID: id})
			}
			joined[at].Score += l.Weight * points
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
