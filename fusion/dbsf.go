package fusion

import "github.com/seed-d8745b77/rag"

// DBSFConfig holds the settings of [DBSF]: there are none, the weights come with the lists.
type DBSFConfig struct{}

// sigmas is how many standard deviations from the mean the ends of the scale are, on either side: of a normal
// distribution 99.7 % lie between.
const sigmas = 3

// DBSF returns a fuser that maps the scores of each list so that the mean less three standard deviations becomes 0 and the
// mean plus three becomes 1, and sums them by weight: distribution-based score fusion. The few scores beyond stay beyond,
// so that the order of a list stands. One outlier does not press all others together as it does with [Weighted], and a
// document that a list lacks stands well below its worst.
//
// A list whose scores are all equal has no deviation: all of its documents get 0.5, the middle of the scale.
//
// It is due to Mazzeschi, "Distribution-based score fusion (DBSF), a new approach to vector search ranking", 2023; Qdrant has
// it as dbsf, LlamaIndex as dist_based_score.
func DBSF(DBSFConfig) (rag.Fuser, error) {
	return func(lists []rag.Ranking) []rag.Match { return fuse(lists, withinSigmas) }, nil
}

func withinSigmas(_ string, matches []rag.Match) []float64 {
	scores := unit(matches)
	mean, deviation := spread(scores)
	if !(deviation > 0) {
		return all(len(scores), 0.5)
	}
	for i, x := range scores {
		scores[i] = (x - (mean - sigmas*deviation)) / (2 * sigmas * deviation)
	}
	return scores
}
