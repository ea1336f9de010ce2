package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/knights-analytics/hugot/backends"
)

// Sequence is a text, or two as one, as the model reads it.
type Sequence struct {
	IDs   []int32 // 1 to Window of them, special tokens included
	Types []int32 // the segment of each; nil: all 0
}

// Run returns the rows of the output for each sequence, in order: one for each token, or a single one. Sequences of
// like length run together, in batches whose make-up changes no row by more than rounding. When ctx ends, Run returns
// its error after the batch that is under way.
func (m *Model) Run(ctx context.Context, sequences []Sequence) ([][][]float32, error) {
	for i, s := range sequences {
		if n := len(s.IDs); n == 0 || n > m.window || (s.Types != nil && len(s.Types) != n) {
			return nil, fmt.Errorf("sequence %d has %d tokens and %d types: want 1 to %d, and as many types or none", i, n, len(s.Types), m.window)
		}
	}
	outputs := make([][][]float32, len(sequences))
	for batch := range batches(sequences, m.window) {
		if err := m.runBatch(ctx, sequences, batch, outputs); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// batches yields the indexes of sequences that run together: those of one padded length, longest first, so that
// memory is at its peak at once.
func batches(sequences []Sequence, window int) func(yield func([]int) bool) {
	order := make([]int, len(sequences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(sequences[b].IDs), len(sequences[a].IDs))
	})
	return func(yield func([]int) bool) {
		for rest := order; len(rest) > 0; {
			length := paddedLength(len(sequences[rest[0]].IDs), window)
			alike := 1
			for alike < len(rest) && paddedLength(len(sequences[rest[alike]].IDs), window) == length {
				alike++
			}
			n := batchSize(alike)
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// runBatch waits for its turn and runs one batch.
func (m *Model) runBatch(ctx context.Context, sequences []Sequence, indexes []int, outputs [][][]float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case _, open := <-m.turn:
		if !open {
			return errors.New("the model is closed")
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { m.turn <- struct{}{} }()
	rows, err := m.forward(newBatch(sequences, indexes))
	if err != nil {
		return err
	}
	for i, index := range indexes {
		outputs[index] = rows[i]
	}
	return nil
}

// newBatch puts sequences into hugot's form.
func newBatch(sequences []Sequence, indexes []int) *backends.PipelineBatch {
	batch := backends.NewBatch(len(indexes))
	for _, index := range indexes {
		s := sequences[index]
		in := backends.TokenizedInput{
			TokenIDs:          make([]uint32, len(s.IDs)),
			TypeIDs:           make([]uint32, len(s.IDs)),
			AttentionMask:     slices.Repeat([]uint32{1}, len(s.IDs)),
			MaxAttentionIndex: len(s.IDs) - 1,
		}
		for i, id := range s.IDs {
			in.TokenIDs[i] = uint32(id)
		}
		for i, t := range s.Types {
			in.TypeIDs[i] = uint32(t)
		}
		batch.Input = append(batch.Input, in)
		batch.MaxSequenceLength = max(batch.MaxSequenceLength, len(s.IDs))
	}
	return batch
}

// forward runs a batch and returns the rows of the chosen output for each of its sequences. A panic of the backend in
// this goroutine is an error; in one of its own it ends the process.
func (m *Model) forward(batch *backends.PipelineBatch) (rows [][][]float32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in the backend: %v", r)
		}
	}()
	if err := backends.CreateInputTensors(batch, m.backend, runtimeName); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, batch.Destroy()) }()
	out, err := runBackend(m.backend, batch, m.output)
	if err != nil {
		return nil, err
	}
	switch out := out.(type) {
	case [][][]float32:
		rows = out
	case [][]float32:
		for _, row := range out {
			rows = append(rows, [][]float32{row})
		}
	default:
		return nil, fmt.Errorf("the output holds %T: want 32-bit floating point numbers", out)
	}
	if len(rows) != batch.Size {
		return nil, fmt.Errorf("%d results for %d sequences", len(rows), batch.Size)
	}
	return rows, nil
}
