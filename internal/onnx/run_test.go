package onnx

import (
	"slices"
	"testing"
)

func TestBatchesHoldEachSequenceOnceWithItsLike(t *testing.T) {
	const window = 200
	var sequences []Sequence
	for i := range 61 {
		sequences = append(sequences, Sequence{IDs: make([]int32, 1+i*37%window)})
	}
	seen := make([]int, len(sequences))
	last := window
	for batch := range batches(sequences, window) {
		length := paddedLength(len(sequences[batch[0]].IDs), window)
		if length > last {
			t.Errorf("a batch of length %d after one of %d", length, last)
		}
		last = length
		if len(batch) != batchSize(len(batch)) {
			t.Errorf("a batch of %d", len(batch))
		}
		for _, i := range batch {
			seen[i]++
			n := len(sequences[i].IDs)
			if p := paddedLength(n, window); p != length || p < n {
				t.Errorf("%d tokens, padded to %d, in a batch of length %d", n, p, length)
			}
		}
	}
	if slices.Max(seen) != 1 || slices.Min(seen) != 1 {
		t.Errorf("times that each sequence was run: %v", seen)
	}
	for range batches(sequences, window) {
		break // the sequence of batches may be left early
	}
}
