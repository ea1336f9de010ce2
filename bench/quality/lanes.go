package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/eval"
)

// laneSet is what both lanes ranked for the queries of one set: everything that fusion sees.
type laneSet struct {
	Name    string                 `json:"name"`
	Judged  map[string]eval.Grades `json:"judged"`
	Queries []laneQuery            `json:"queries"`
}

// laneQuery holds the lanes' lists of one query, document IDs in place of chunk IDs.
type laneQuery struct {
	ID     string      `json:"id"`
	Dense  []rag.Match `json:"dense"`
	Sparse []rag.Match `json:"sparse"`
	Hybrid bool        `json:"hybrid"` // false: a hybrid search leaves the dense lane out
}

// storeLanes writes the rankings of all sets to a file, so that weights can be tried without searching again.
func storeLanes(path string, c rag.Config, sets []*ir.Set) error {
	all := make([]laneSet, 0, len(sets))
	for _, set := range sets {
		ranked := laneSet{Name: set.Name, Judged: set.Judged}
		err := withEngine(c, set, false, func(eng *rag.Engine, _ opener) error {
			for _, q := range set.Queries {
				r, err := rankLanes(eng, q)
				if err != nil {
					return err
				}
				ranked.Queries = append(ranked.Queries, r)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", set.Name, err)
		}
		all = append(all, ranked)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// rankLanes asks each lane alone, as deep as a hybrid search would.
func rankLanes(eng *rag.Engine, q ir.Query) (laneQuery, error) {
	out := laneQuery{ID: q.ID}
	for _, lane := range []struct {
		mode rag.Mode
		list *[]rag.Match
	}{{rag.Dense, &out.Dense}, {rag.Sparse, &out.Sparse}} {
		res, err := eng.Search(context.Background(), rag.Query{Text: q.Text, Mode: lane.mode, TopK: ir.ScoreDepth})
		if err != nil {
			return out, err
		}
		for i, id := range documents(res) {
			*lane.list = append(*lane.list, rag.Match{ID: id, Score: res.Hits[i].Score})
		}
	}
	res, err := eng.Search(context.Background(), rag.Query{Text: q.Text, Mode: rag.Hybrid, TopK: 1})
	if err != nil {
		return out, err
	}
	out.Hybrid = res.Mode == rag.Hybrid
	return out, nil
}
