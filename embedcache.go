package rag

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// embedKey names the vector of a text.
func embedKey(model string, role EmbedRole, text string) EmbedKey {
	return sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%s", len(model), model, len(role), role, text))
}

// cachedVectors returns what the cache has of these passages, nil where it has none, and their keys. Without a cache
// the keys are nil.
func (e *Engine) cachedVectors(ctx context.Context, texts []string) ([][]float32, []EmbedKey) {
	vecs := make([][]float32, len(texts))
	if e.cache == nil {
		return vecs, nil
	}
	model := e.embedder.Model()
	name := model.Fingerprint()
	keys := make([]EmbedKey, len(texts))
	for i, text := range texts {
		keys[i] = embedKey(name, AsPassage, text)
	}
	got, err := e.cache.Get(ctx, keys)
	if err != nil || len(got) != len(keys) {
		e.log.Warn("embedding cache not read", "error", err)
		return vecs, keys
	}
	for i, v := range got {
		if len(v) == model.Dims && normalize(v) {
			vecs[i] = v
		}
	}
	return vecs, keys
}

// keepVectors puts a batch into the cache. It is written before the next batch is embedded, so that a run that is cut
// short loses one batch at most.
func (e *Engine) keepVectors(ctx context.Context, keys []EmbedKey, vecs [][]float32) {
	if e.cache == nil {
		return
	}
	// What was computed is worth keeping also if the call was cancelled meanwhile.
	if err := e.cache.Put(context.WithoutCancel(ctx), keys, vecs); err != nil {
		e.log.Warn("embedding cache not written", "error", err)
	}
}
