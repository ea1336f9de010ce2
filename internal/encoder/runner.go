package encoder

import (
	"context"
	"errors"
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

// Pair is two texts as one sequence of tokens, special tokens included.
type Pair struct {
	IDs   []int32 // 1 to Config.Positions of them
	Types []int32 // the segment of each token, below Config.Types; nil: all 0
}

// Embed returns the vector of each sequence of token ids, special tokens included. A sequence that is empty, longer
// than the model's positions or holds an id outside the vocabulary is an error. When ctx ends, Embed returns its error
// after a layer at most.
func (r *Runner) Embed(ctx context.Context, sequences [][]int32) ([][]float32, error) {
	if r.model.head != nil {
		return nil, errors.New("the model is a cross-encoder: it scores pairs and has no vectors")
	}
	for i, ids := range sequences {
		if err := r.model.check(Pair{IDs: ids}); err != nil {
			return nil, fmt.Errorf("sequence %d: %w", i, err)
		}
	}
	vectors := make([][]float32, len(sequences))
	length := func(i int) int { return len(sequences[i]) }
	err := r.each(ctx, len(sequences), length, func(s *scratch, i int) (err error) {
		vectors[i], err = r.model.vector(ctx, s, sequences[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// Score returns the logit of each pair, of any size and sign: the higher, the better the two go together. A model
// without a head, and a pair that Embed would refuse as a sequence, is an error. When ctx ends, Score returns its error
// after a layer at most.
func (r *Runner) Score(ctx context.Context, pairs []Pair) ([]float32, error) {
	if r.model.head == nil {
		return nil, errors.New("the model has no head that scores pairs: it is an embedding model")
	}
	for i, p := range pairs {
		if err := r.model.check(p); err != nil {
			return nil, fmt.Errorf("pair %d: %w", i, err)
		}
	}
	logits := make([]float32, len(pairs))
	length := func(i int) int { return len(pairs[i].IDs) }
	err := r.each(ctx, len(pairs), length, func(s *scratch, i int) (err error) {
		logits[i], err = r.model.score(ctx, s, pairs[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return logits, nil
}

// each calls do for the indices below n, the longest first: the last ones are short, so that the threads end together.
// It returns the error of ctx, the only one that do can return.
func (r *Runner) each(ctx context.Context, n int, length func(int) int, do func(*scratch, int) error) error {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return length(b) - length(a) })
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(cap(r.free), n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || r.one(ctx, order[i], do) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// one waits for a free thread and calls do on it.
func (r *Runner) one(ctx context.Context, i int, do func(*scratch, int) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s := <-r.free:
		defer func() { r.free <- s }()
		return do(s, i)
	}
}

func (m *Model) check(p Pair) error {
	c := m.config
	if len(p.IDs) == 0 || len(p.IDs) > c.Positions {
		return fmt.Errorf("%d tokens: want 1 to %d", len(p.IDs), c.Positions)
	}
	if p.Types != nil && len(p.Types) != len(p.IDs) {
		return fmt.Errorf("%d types for %d tokens", len(p.Types), len(p.IDs))
	}
	for _, id := range p.IDs {
		if id < 0 || int(id) >= c.Vocabulary {
			return fmt.Errorf("id %d: want 0 to %d", id, c.Vocabulary-1)
		}
	}
	for _, t := range p.Types {
		if t < 0 || int(t) >= c.Types {
			return fmt.Errorf("type %d: want 0 to %d", t, c.Types-1)
		}
	}
	return nil
}
