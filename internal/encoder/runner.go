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
	pairs := make([]Pair, len(sequences))
	for i, ids := range sequences {
		pairs[i].IDs = ids
	}
	err := r.each(ctx, pairs, func(s *scratch, place, i int) { vectors[i] = r.model.vector(s, place) })
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
	err := r.each(ctx, pairs, func(s *scratch, place, i int) { logits[i] = r.model.score(s, place) })
	if err != nil {
		return nil, err
	}
	return logits, nil
}

// each computes the pairs in packs, on all threads, and calls take for each pair: with the scratch that holds it, its
// place in the pack, and its index. It returns the error of ctx, if that ended.
func (r *Runner) each(ctx context.Context, pairs []Pair, take func(s *scratch, place, i int)) error {
	packs := r.packs(pairs)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(cap(r.free), len(packs)) {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(packs) || r.one(ctx, pairs, packs[n], take) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// packTokens is how many tokens a pack is filled up to: enough for the weights to be read from the processor's outer
// caches once for many rows, few enough for the rows to stay in the inner ones. A longer sequence is a pack alone.
const packTokens = 128

// packs shares the pairs out, the longest first: the last packs are short, so that the threads end together.
func (r *Runner) packs(pairs []Pair) [][]int {
	order := make([]int, len(pairs))
	total := 0
	for i := range order {
		order[i] = i
		total += len(pairs[i].IDs)
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(pairs[b].IDs) - len(pairs[a].IDs) })
	full := min(packTokens, (total+cap(r.free)-1)/cap(r.free)) // few tokens: something for each thread
	var packs [][]int
	held := 0
	for _, i := range order {
		n := len(pairs[i].IDs)
		if len(packs) == 0 || held+n > full {
			packs, held = append(packs, nil), 0
		}
		packs[len(packs)-1] = append(packs[len(packs)-1], i)
		held += n
	}
	return packs
}

// one waits for a free thread and computes a pack on it.
func (r *Runner) one(ctx context.Context, pairs []Pair, pack []int, take func(s *scratch, place, i int)) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s := <-r.free:
		defer func() { r.free <- s }()
		packed := make([]Pair, len(pack))
		for place, i := range pack {
			packed[place] = pairs[i]
		}
		if err := r.model.forward(ctx, s, packed); err != nil {
			return err
		}
		for place, i := range pack {
			take(s, place, i)
		}
		return nil
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
