package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// BestRank is a fuser under which a passage is worth its best place in any list: 1 for the first, 1/2 for the second, and
// so on, times the list's weight.
func BestRank(lists []rag.Ranking) []rag.Match {
	worth := map[string]float64{}
	for _, list := range lists {
		if list.Weight == 0 || slices.ContainsFunc(list.Matches, notFinite) {
			continue
		}
		for i, m := range list.Matches {
			worth[m.ID] = max(worth[m.ID], list.Weight/float64(i+1))
		}
	}
	fused := make([]rag.Match, 0, len(worth))
	for id, score := range worth {
		fused = append(fused, rag.Match{ID: id, Score: score})
	}
	slices.SortFunc(fused, func(a, b rag.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return fused
}

// notFinite tells of a lane that is out of order: nothing of its list is used.
func notFinite(m rag.Match) bool { return math.IsNaN(m.Score) || math.IsInf(m.Score, 0) }
