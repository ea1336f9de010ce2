package rag

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// fillDefaults puts the default into every zero field.
func (c *Config) fillDefaults() {
	d := DefaultConfig()
	c.Collection = cmp.Or(c.Collection, d.Collection)
	for _, slot := range []struct{ set, missing *ProviderConfig }{
		{&c.Catalog, &d.Catalog}, {&c.OCR, &d.OCR}, {&c.Splitter, &d.Splitter}, {&c.Embedder, &d.Embedder}, {&c.EmbedCache, &d.EmbedCache},
		{&c.VectorStore, &d.VectorStore}, {&c.SparseIndex, &d.SparseIndex}, {&c.Fusion, &d.Fusion}, {&c.Rerank, &d.Rerank},
		{&c.LLM, &d.LLM}, {&c.VisionLLM, &d.VisionLLM}, {&c.Verifier, &d.Verifier}, {&c.Trace, &d.Trace},
	} {
		slot.set.Provider = cmp.Or(slot.set.Provider, slot.missing.Provider)
	}
	if c.Transforms == nil {
		c.Transforms = d.Transforms
	}
	if c.QueryTransforms == nil {
		c.QueryTransforms = d.QueryTransforms
	}
	c.Retrieval.fillDefaults(d.Retrieval)
	c.Answer.fillDefaults(d.Answer)
	c.Ingest.fillDefaults(d.Ingest)
}

// fillDefaults puts the default into every zero field that has another.
func (r *RetrievalConfig) fillDefaults(d RetrievalConfig) {
	r.TopK = cmp.Or(r.TopK, d.TopK)
	r.DenseTopK = cmp.Or(r.DenseTopK, d.DenseTopK)
	r.SparseTopK = cmp.Or(r.SparseTopK, d.SparseTopK)
	r.FusionTopK = cmp.Or(r.FusionTopK, d.FusionTopK)
	r.EnableDense = cmp.Or(r.EnableDense, d.EnableDense)
	r.EnableSparse = cmp.Or(r.EnableSparse, d.EnableSparse)
	r.DenseWeight = cmp.Or(r.DenseWeight, d.DenseWeight)
	r.SparseWeight = cmp.Or(r.SparseWeight, d.SparseWeight)
	r.RerankTopN = cmp.Or(r.RerankTopN, d.RerankTopN)
	r.RerankMS = cmp.Or(r.RerankMS, d.RerankMS)
	r.RerankWeight = cmp.Or(r.RerankWeight, d.RerankWeight)
	r.Highlight = cmp.Or(r.Highlight, d.Highlight)
	r.RewriteMS = cmp.Or(r.RewriteMS, d.RewriteMS)
}

// fillDefaults puts the default into every zero field but the prompts.
func (a *AnswerConfig) fillDefaults(d AnswerConfig) {
	a.Passages = cmp.Or(a.Passages, d.Passages)
	a.ContextTokens = cmp.Or(a.ContextTokens, d.ContextTokens)
	a.Sentences = cmp.Or(a.Sentences, d.Sentences)
	a.MaxTokens = cmp.Or(a.MaxTokens, d.MaxTokens)
	a.TimeoutMS = cmp.Or(a.TimeoutMS, d.TimeoutMS)
	a.RefuseBelow = cmp.Or(a.RefuseBelow, d.RefuseBelow)
	a.ReliableFrom = cmp.Or(a.ReliableFrom, d.ReliableFrom)
}

// fillDefaults puts the default into every zero field.
func (c *IngestConfig) fillDefaults(d IngestConfig) {
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	c.MaxSourceBytes = cmp.Or(c.MaxSourceBytes, d.MaxSourceBytes)
	c.MaxUnpackedBytes = cmp.Or(c.MaxUnpackedBytes, d.MaxUnpackedBytes)
	c.MaxPages = cmp.Or(c.MaxPages, d.MaxPages)
	c.MaxImages = cmp.Or(c.MaxImages, d.MaxImages)
	c.MaxChunks = cmp.Or(c.MaxChunks, d.MaxChunks)
	c.DocumentTimeoutMS = cmp.Or(c.DocumentTimeoutMS, d.DocumentTimeoutMS)
	c.WatchQuietMS = cmp.Or(c.WatchQuietMS, d.WatchQuietMS)
	c.WatchMaxMS = cmp.Or(c.WatchMaxMS, d.WatchMaxMS)
}

// validate reports a number outside of the interval that its field's tag names, and a search without lanes.
func (c *Config) validate() error {
	if wrong := strict.Check(c); wrong != nil {
		return &ConfigError{wrong.Field, fmt.Errorf("%s: %w", wrong.Message, ErrInvalid)}
	}
	if r := &c.Retrieval; !*r.EnableDense && !*r.EnableSparse {
		return &ConfigError{"retrieval.enable_sparse", fmt.Errorf("it is false, as is enable_dense: nothing would be searched: %w", ErrInvalid)}
	}
	return nil
}

// withoutProvider reports settings of a slot that is empty unless a provider is named: nothing would read them.
func (c *Config) withoutProvider() error {
	for _, slot := range []struct {
		key string
		c   *ProviderConfig
	}{{"ocr", &c.OCR}, {"rerank", &c.Rerank}, {"llm", &c.LLM}, {"vision_llm", &c.VisionLLM}} {
		if slot.c.Provider == "" && len(slot.c.Settings) > 0 {
			return &ConfigError{slot.key, fmt.Errorf("there are settings, and no provider is named: %w", ErrInvalid)}
		}
	}
	return nil
}
