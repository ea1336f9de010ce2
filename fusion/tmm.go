package fusion

import (
	"math"

	"github.com/seed-d8745b77/rag"
)

// TMMConfig holds the settings of [TMM]: there are none, the weights come with the lists.
type TMMConfig struct{}

// TMM returns a fuser like [Weighted] that stretches from the least score there can be in place of the least that was
// found, so that the last of a list keeps what it has. The least of the dense lane, a cosine, is -1; of the sparse lane,
// whose scores are sums of positive parts, it is 0; of another list it is the least found.
//
// This is the theoretical min-max normalisation with convex combination (TM2C2) of Bruch, Gai and Ingber, "An analysis of
// fusion functions for hybrid retrieval", ACM TOIS 42(1), 2023.
func TMM(TMMConfig) (rag.Fuser, error) {
	return func(lists []rag.Ranking) []rag.Match { return fuse(lists, theoreticalMinMax) }, nil
}

func theoreticalMinMax(stage string, matches []rag.Match) []float64 {
	switch stage {
	case rag.StageDense:
		return stretch(matches, -1)
	case rag.StageSparse:
		return stretch(matches, 0)
	}
	return stretch(matches, math.Inf(1))
}
