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
// get 1.
//
// This is CombSUM (Fox and Shaw, "Combination of multiple searches", TREC-2, 1994) over standard normalisation (Montague
// and Aslam, "Relevance score normalization for metasearch", CIKM 2001); Weaviate calls it relativeScoreFusion, LlamaIndex
// relative_score, OpenSearch min_max.
func Weighted(WeightedConfig) (rag.Fuser, error) {
	return func(lists []rag.Ranking) []rag.Match { return fuse(lists, minMax) }, nil
}

func minMax(_ string, matches []rag.Match) []float64 {
	return stretch(matches, math.Inf(1))
}

// stretch maps scores to [0, 1] so that floor, or the least of them if that is less, becomes 0 and the best 1; all to 1
// where there is no distance between.
func stretch(matches []rag.Match, floor float64) []float64 {
	points := make([]float64, len(matches))
	least, best := floor/2, math.Inf(-1)
	for i, m := range matches {
		points[i] = m.Score / 2 // best-least may overflow otherwise
		least, best = min(least, points[i]), max(best, points[i])
	}
	if !(best > least) {
		return all(len(matches), 1)
	}
	for i := range points {
		points[i] = (points[i] - least) / (best - least)
	}
	return points
}
