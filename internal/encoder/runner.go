package encoder

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Runner computes vectors with a model on a bounded number of threads, which all its callers share. It is safe for
// concurrent use.
type Runner struct {
	model *Model
	free  chan *scratch // one for each thread that may run
}

// NewRunner returns a runner on this many threads; 0 or less means GOMAXPROCS.
func NewRunner(m *Model, threads int) *Runner {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	r := &Runner{model: m, free: make(chan *scratch, threads)}
	for range threads {
		r.free <- &scratch{}
	}
	return r
}

// Embed returns the unit vector of each sequence of token ids, special tokens included. A sequence that is empty,
// longer than the model's positions or holds an id outside the vocabulary is an error. When ctx ends, Embed returns
// its error after a layer at most.
func (r *Runner) Embed(ctx context.Context, sequences [][]int32) ([][]float32, error) {
	if err := r.check(sequences); err != nil {
		return nil, err
	}
	order := longestFirst(sequences)
	vectors := make([][]float32, len(sequences))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(cap(r.free), len(sequences)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(order) || !r.one(ctx, sequences[order[i]], &vectors[order[i]]) {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// one waits for a free thread and computes one vector; it reports whether ctx let it.
func (r *Runner) one(ctx context.Context, ids []int32, vector *[]float32) bool {
	select {
	case <-ctx.Done():
		return false
	case s := <-r.free:
		defer func() { r.free <- s }()
		v, err := r.model.forward(ctx, s, ids)
		*vector = v
		return err == nil
	}
}

func (r *Runner) check(sequences [][]int32) error {
	c := r.model.config
	for i, ids := range sequences {
		if len(ids) == 0 || len(ids) > c.Positions {
			return fmt.Errorf("sequence %d has %d tokens: want 1 to %d", i, len(ids), c.Positions)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= c.Vocabulary {
				return fmt.Errorf("sequence %d holds the id %d: want 0 to %d", i, id, c.Vocabulary-1)
			}
		}
	}
	return nil
}

// longestFirst returns the indices of the sequences by falling length: the last ones to be done are short, so that
// the threads end together.
func longestFirst(sequences [][]int32) []int {
	order := make([]int, len(sequences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(sequences[b]) - len(sequences[a]) })
	return order
}
