package rag

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// specialTokens are those that an encoder puts around a text ([CLS], [SEP]) inside its window.
const specialTokens = 2

// embedded is what embedAll did.
type embedded struct {
	vectors [][]float32 // in the order of the texts, unit length
	cached  int         // of them: taken from the cache
	batches int         // that the embedder was asked for
}

// embedAll embeds the passages that the cache does not have, in batches sorted by length, so that no short text is
// padded to a long one. It calls progress, unless nil, with the places of the texts that have a vector now: of those from the cache, then
// of each batch. fresh embeds all anew.
func (e *Engine) embedAll(ctx context.Context, texts []string, fresh bool, progress func(at []int)) (embedded, error) {
	vecs, keys := e.cachedVectors(ctx, texts)
	var order, known []int
	for i := range texts {
		if vecs[i] == nil || fresh {
			order = append(order, i)
		} else {
			known = append(known, i)
		}
	}
	if progress == nil {
		progress = func([]int) {}
	}
	if len(known) > 0 {
		progress(known)
	}
	out := embedded{vectors: vecs, cached: len(known)}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(texts[b]), len(texts[a])) })
	for part := range slices.Chunk(order, e.embedder.Model().BatchSize()) {
		if err := ctx.Err(); err != nil {
			return embedded{}, err
		}
		batch, names := make([]string, len(part)), make([]EmbedKey, len(part))
		for i, at := range part {
			batch[i] = texts[at]
			if keys != nil {
				names[i] = keys[at]
			}
		}
		out.batches++
		got, err := e.embedBatch(ctx, AsPassage, batch)
		if err != nil {
			return embedded{}, err
		}
		e.keepVectors(ctx, names, got)
		for i, at := range part {
			vecs[at] = got[i]
		}
		progress(part)
	}
	return out, nil
}

// embedBatch embeds texts, at most BatchSize of them, and checks what the embedder gives.
func (e *Engine) embedBatch(ctx context.Context, role EmbedRole, texts []string) ([][]float32, error) {
	vecs, err := e.embedder.Embed(ctx, role, texts)
	if err == nil {
		err = checkVectors(vecs, len(texts), e.embedder.Model().Dims)
	}
	return vecs, err
}

// embedLookup embeds a text that is looked up.
func (e *Engine) embedLookup(ctx context.Context, role EmbedRole, text string) ([]float32, error) {
	vecs, err := e.embedBatch(ctx, role, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embed the question: %w", err)
	}
	return vecs[0], nil
}

// overlong counts the texts whose end the embedder does not see.
func (e *Engine) overlong(texts []string) int {
	counter, ok := e.embedder.(TokenCounter)
	window := e.embedder.Model().MaxTokens
	if !ok || window == 0 {
		return 0
	}
	n := 0
	for _, t := range texts {
		// A token is at least one byte, so a text of fewer bytes fits without counting.
		if len(t)+specialTokens > window && counter.CountTokens(t)+specialTokens > window {
			n++
		}
	}
	return n
}

// normalize scales v to unit length in place; it reports false for a vector that is zero or not finite.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	if math.Abs(sum-1) < 1e-6 { // unit already, to float32's precision: leave the bits alone
		return true
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}
