package fusion

import (
	"slices"

	"github.com/seed-d8745b77/rag"
)

// ZScoreConfig holds the settings of [ZScore]: there are none, the weights come with the lists.
type ZScoreConfig struct{}

// ZScore returns a fuser that measures the scores of each list in standard deviations and sums them by weight. They are
// counted from the worst of the list, so that a document that a list lacks stands with its worst, not with its mean. A best
// score far ahead of its list weighs more than with [Weighted], where it is 1 whatever lies below.
//
// A list whose scores are all equal has no deviation: all of its documents get 1.
//
// This is zero-mean unit-variance normalisation with CombSUM (Montague and Aslam, "Relevance score normalization for
// metasearch", CIKM 2001), shifted to the minimum; OpenSearch has it as z_score.
func ZScore(ZScoreConfig) (rag.Fuser, error) {
	return func(lists []rag.Ranking) []rag.Match { return fuse(lists, deviations) }, nil
}

func deviations(_ string, matches []rag.Match) []float64 {
	scores := unit(matches)
	_, deviation := spread(scores)
	if !(deviation > 0) {
		return all(len(scores), 1)
	}
	worst := slices.Min(scores)
	for i, x := range scores {
		scores[i] = (x - worst) / deviation
	}
	return scores
}
