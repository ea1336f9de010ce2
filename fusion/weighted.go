package fusion

import (
	"math"

	"github.com/seed-d8745b77/rag"
)

// WeightedConfig holds the settings of [Weighted]: there are none, the weights come with the lists.
type WeightedConfig struct{}

// Weighted returns a fuser that stretches the scores of each list to [0, 1] (best 1, worst 0) and sums them by
// weight: a convex combination where the weights sum to 1. Unlike [RRF] it keeps the distances between scores, and
// it suffers from a list whose scores mean little.
//
// A list whose scores are all equal, such as one of a single document, cannot be stretched: all of its documents
// get 1. Scores that are not finite count as the worst finite score of their list.
func Weighted(WeightedConfig) (rag.Fuser, error) {
	return func(lists []rag.Ranking) []rag.Match { return fuse(lists, minMax) }, nil
}

func minMax(matches []rag.Match) []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, m := range matches {
		if isFinite(m.Score) {
			lo, hi = min(lo, m.Score), max(hi, m.Score)
		}
	}
	points := make([]float64, len(matches))
	for i, m := range matches {
		switch {
		case !(hi > lo):
			points[i] = 1
		case isFinite(m.Score):
			// Halved first: hi-lo of two huge scores of opposite sign would overflow.
			points[i] = (m.Score/2 - lo/2) / (hi/2 - lo/2)
		}
	}
	return points
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func isPositive(x float64) bool { return x > 0 && isFinite(x) }
