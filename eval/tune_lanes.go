package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-d8745b77/rag"
)

// Values that are tried for the fusion of the lanes.
var (
	denseShares = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} // of the weight of both lanes
	pools       = []int{20, 50, 100, 200}                                // candidates of each lane
)

// lanes holds what both lanes ranked for a question: everything that fusion sees.
type lanes struct {
	dense, sparse []rag.Match
	found         map[string]Found // by passage
	fused         bool             // false: a hybrid search leaves the dense lane out
}

// fusion tries fusers and weights, then pools, on the lists of both lanes: no search is made twice.
func (s *tuner) fusion(ctx context.Context) error {
	if s.best.Embedder.Provider == rag.None {
		return nil // one lane
	}
	stored, err := s.storeLanes(ctx)
	if err != nil {
		return err
	}
	r := s.best.Retrieval
	share := r.DenseWeight / (r.DenseWeight + r.SparseWeight)
	trials := []TuneTrial{}
	add := func(name string, c rag.Config, pool int) error {
		trial, err := s.replay(name, c, stored, pool)
		trials = append(trials, trial)
		return err
	}
	if err := add("as it is", s.best, min(r.DenseTopK, r.SparseTopK)); err != nil {
		return err
	}
	for _, fuser := range rag.Default.Fusers.Names() {
		c := s.best
		if fuser != c.Fusion.Provider {
			c.Fusion = rag.ProviderConfig{Provider: fuser}
		}
		for _, dense := range append([]float64{share}, denseShares...) {
			c.Retrieval.DenseWeight, c.Retrieval.SparseWeight = round3(dense), round3(1-dense)
			if err := add(fmt.Sprintf("%s dense_weight=%g sparse_weight=%g", fuser, c.Retrieval.DenseWeight, c.Retrieval.SparseWeight), c, min(r.DenseTopK, r.SparseTopK)); err != nil {
				return err
			}
		}
	}
	s.choose("fusion", trials)
	trials = []TuneTrial{}
	if err := add("as it is", s.best, min(r.DenseTopK, r.SparseTopK)); err != nil {
		return err
	}
	for _, pool := range pools {
		c := s.best
		c.Retrieval.DenseTopK, c.Retrieval.SparseTopK = pool, pool
		if err := add(fmt.Sprintf("dense_top_k=%d sparse_top_k=%d", pool, pool), c, pool); err != nil {
			return err
		}
	}
	s.choose("pools", trials)
	return nil
}

// storeLanes asks each lane alone, as deep as the largest pool.
func (s *tuner) storeLanes(ctx context.Context) (stored []lanes, err error) {
	c := s.best
	c.Rerank = rag.ProviderConfig{Provider: rag.None}
	eng, err := s.Lab.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	deepest := max(pools[len(pools)-1], c.Retrieval.DenseTopK, c.Retrieval.SparseTopK)
	for i := range s.train {
		s.progress("lanes", i, len(s.train))
		l := lanes{found: map[string]Found{}}
		for _, lane := range []struct {
			mode rag.Mode
			list *[]rag.Match
		}{{rag.Dense, &l.dense}, {rag.Sparse, &l.sparse}} {
			query := s.train[i].Query(s.Collection)
			query.Mode, query.TopK = lane.mode, deepest
			res, err := eng.Search(ctx, query)
			if err != nil {
				return nil, fmt.Errorf("question %s: %w", s.train[i].ID, err)
			}
			for _, f := range foundIn(res.Hits) {
				*lane.list = append(*lane.list, rag.Match{ID: f.ChunkID, Score: f.Score})
				l.found[f.ChunkID] = f
			}
		}
		query := s.train[i].Query(s.Collection)
		query.Mode, query.TopK = rag.Hybrid, 1
		res, err := eng.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", s.train[i].ID, err)
		}
		l.fused = res.Mode == rag.Hybrid
		stored = append(stored, l)
	}
	return stored, nil
}

// replay fuses stored lists as a search under the configuration would.
func (s *tuner) replay(name string, c rag.Config, stored []lanes, pool int) (TuneTrial, error) {
	fuse, err := rag.Default.Fusers.New(c.Fusion.Provider, rag.Env{}, c.Fusion.Settings)
	if err != nil {
		return TuneTrial{}, err
	}
	trial := TuneTrial{Name: name, config: c}
	for i, l := range stored {
		fused := l.sparse
		if l.fused {
			fused = fuse([]rag.Ranking{
				{Stage: rag.StageDense, Weight: c.Retrieval.DenseWeight, Matches: l.dense[:min(pool, len(l.dense))]},
				{Stage: rag.StageSparse, Weight: c.Retrieval.SparseWeight, Matches: l.sparse[:min(pool, len(l.sparse))]},
			})
		}
		hits := make([]Found, len(fused))
		for at, m := range fused {
			hits[at] = l.found[m.ID]
		}
		if s.Distinct {
			hits = distinct(hits)
		}
		hits = hits[:min(len(hits), s.target.metric.depth(len(hits)))]
		trial.values = append(trial.values, s.target.value(&s.train[i], s.train[i].places(s.target.level, hits), nil, ""))
	}
	trial.Mean = Mean(numbers(trial.values))
	return trial, nil
}
