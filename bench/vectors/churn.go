package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// churned is the share of the vectors that is deleted and added again.
const churned = 0.3

// churn writes how a graph takes it that vectors go and come: recall at the default width, and the share of the stored
// vectors that find themselves among ten results.
func churn(ctx context.Context, w io.Writer, s *set) error {
	truth, err := exactResults(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n| graph | recall, built | self-recall | recall, 30 % deleted and added again | self-recall | consolidation s |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, kind := range []slab.Kind{slab.Float32, slab.Int8} {
		x, _, err := newIndex(ctx, s, kind, false, hnsw.Config{})
		if err != nil {
			return err
		}
		line := fmt.Sprintf("| %s |", kind)
		if line, err = x.describe(ctx, line, s, truth); err != nil {
			return err
		}
		took, err := x.replace(ctx, s)
		if err != nil {
			return err
		}
		if line, err = x.describe(ctx, line, s, truth); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %.2f |\n", line, took.Seconds())
		x.close()
	}
	return nil
}

// describe adds recall and self-recall to a line of the table.
func (x *index) describe(ctx context.Context, line string, s *set, truth [][]uint32) (string, error) {
	if r := x.graph.Check(); !r.OK() {
		return "", fmt.Errorf("%d unreachable, broken: %q", len(r.Unreachable), r.Broken)
	}
	recall, _, err := x.measure(ctx, s, truth, hnsw.DefaultEf)
	if err != nil {
		return "", err
	}
	var w searcher
	found := 0
	for slot, v := range s.base {
		hits, err := x.search(ctx, &w, v, hnsw.DefaultEf)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(hits, func(h hnsw.Hit) bool { return h.Slot == uint32(slot) }) {
			found++
		}
	}
	return fmt.Sprintf("%s %.4f | %.5f |", line, recall, float64(found)/float64(len(s.base))), nil
}

// replace deletes some vectors, consolidates, and adds the same again.
func (x *index) replace(ctx context.Context, s *set) (took time.Duration, err error) {
	rng := rand.New(rand.NewPCG(5, 5))
	var slots []uint32
	for _, i := range rng.Perm(len(s.base))[:int(churned*float64(len(s.base)))] {
		slots = append(slots, uint32(i))
	}
	x.graph.Delete(slots)
	start := cpu()
	if _, err := x.graph.Consolidate(ctx); err != nil {
		return 0, err
	}
	took = cpu() - start
	return took, x.graph.Add(ctx, slots)
}
