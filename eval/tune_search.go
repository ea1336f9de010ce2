package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// rerankDepths and rerankShares are tried where a reranker is configured.
var (
	rerankDepths = []int{10, 20, 50}
	rerankShares = []float64{0.3, 0.5, 0.7, 1}
)

// rerank tries depths and shares of the configured reranker, and to do without it.
func (s *tuner) rerank(ctx context.Context) error {
	if s.best.Rerank.Provider == rag.None || s.best.Rerank.Provider == "" {
		return nil
	}
	without := s.best
	without.Rerank = rag.ProviderConfig{Provider: rag.None}
	candidates := []TuneTrial{{Name: "as it is", config: s.best}, {Name: "no reranker", config: without}}
	for _, depth := range rerankDepths {
		for _, share := range rerankShares {
			c := s.best
			if c.Retrieval.RerankTopN, c.Retrieval.RerankWeight = depth, share; c.Retrieval != s.best.Retrieval {
				candidates = append(candidates, TuneTrial{Name: fmt.Sprintf("rerank_top_n=%d rerank_weight=%g", depth, share), config: c})
			}
		}
	}
	return s.search(ctx, "rerank", candidates)
}

// chunks tries sizes of passages. Ground truth by passage ID does not survive another splitting, so it is not asked for.
func (s *tuner) chunks(ctx context.Context) error {
	if len(s.Chunks) == 0 || s.target.level == LevelChunk {
		return nil
	}
	candidates := []TuneTrial{{Name: "as it is", config: s.best}}
	for _, size := range slices.Compact(slices.Sorted(slices.Values(s.Chunks))) {
		c, err := overlay(s.best, nested([]string{"splitter", "max_tokens"}, size))
		if err != nil {
			return err
		}
		candidates = append(candidates, TuneTrial{Name: fmt.Sprintf("max_tokens=%d", size), config: c})
	}
	return s.search(ctx, "chunk size", candidates)
}

// search measures the candidates of a step by searching, and ends the step.
func (s *tuner) search(ctx context.Context, step string, candidates []TuneTrial) error {
	for i := range candidates {
		if err := s.searched(ctx, &candidates[i]); err != nil {
			return err
		}
	}
	s.choose(step, candidates)
	return nil
}

// searched measures a candidate on the training questions.
func (s *tuner) searched(ctx context.Context, trial *TuneTrial) error {
	x := s.experiment()
	x.Questions, x.Metrics = s.train, []string{string(s.target.level) + "/" + s.target.metric.String()}
	x.Variants = []Variant{{Name: trial.Name, Config: patient(trial.config)}}
	x.Progress = func(variant string, done, total int) { s.progress(variant, done, total) }
	report, err := x.Run(ctx)
	if err != nil {
		return err
	}
	v := report.Variants[0]
	trial.values, trial.Latency = v.Values[x.Metrics[0]], &v.Latency
	trial.Mean = Mean(numbers(trial.values))
	return nil
}
