package rag

import (
	"cmp"
	"fmt"
	"runtime"
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

// maxWorkers bounds the sources read at once: each may hold Ingest.MaxSourceBytes.
const maxWorkers = 1024

// validate reports sizes that make no sense.
func (c *Config) validate() error {
	r := c.Retrieval
	for _, n := range []struct {
		key   string
		value int
	}{
		{"retrieval.top_k", r.TopK}, {"retrieval.dense_top_k", r.DenseTopK}, {"retrieval.sparse_top_k", r.SparseTopK},
		{"retrieval.fusion_top_k", r.FusionTopK}, {"retrieval.rerank_top_n", r.RerankTopN}, {"retrieval.rerank_timeout_ms", r.RerankMS},
		{"retrieval.rewrite_timeout_ms", r.RewriteMS},
		{"answer.passages", c.Answer.Passages}, {"answer.context_tokens", c.Answer.ContextTokens}, {"answer.sentences", c.Answer.Sentences},
		{"answer.max_tokens", c.Answer.MaxTokens}, {"answer.timeout_ms", c.Answer.TimeoutMS},
		{"ingest.workers", c.Ingest.Workers}, {"ingest.max_source_bytes", int(c.Ingest.MaxSourceBytes)},
		{"ingest.max_unpacked_bytes", int(c.Ingest.MaxUnpackedBytes)}, {"ingest.max_pages", c.Ingest.MaxPages}, {"ingest.max_images", c.Ingest.MaxImages},
		{"ingest.max_chunks", c.Ingest.MaxChunks}, {"ingest.document_timeout_ms", c.Ingest.DocumentTimeoutMS},
		{"ingest.watch_quiet_ms", c.Ingest.WatchQuietMS}, {"ingest.watch_max_ms", c.Ingest.WatchMaxMS},
	} {
		if n.value < 1 {
			return fmt.Errorf("%s is %d: it must be at least 1: %w", n.key, n.value, ErrInvalid)
		}
	}
	if c.Ingest.Workers > maxWorkers {
		return fmt.Errorf("ingest.workers is %d: the most is %d: %w", c.Ingest.Workers, maxWorkers, ErrInvalid)
	}
	if !isWeight(r.DenseWeight) || !isWeight(r.SparseWeight) {
		return fmt.Errorf("retrieval.dense_weight and sparse_weight must be numbers and not negative: %w", ErrInvalid)
	}
	if !(r.RerankWeight > 0 && r.RerankWeight <= 1) {
		return fmt.Errorf("retrieval.rerank_weight is %v: it must be above 0 and at most 1: %w", r.RerankWeight, ErrInvalid)
	}
	if a := c.Answer; !(a.RefuseBelow <= 1 && a.ReliableFrom > 0 && a.ReliableFrom <= 1) {
		return fmt.Errorf("answer.refuse_below is %v and reliable_from %v: they must be at most 1, and reliable_from above 0: %w", a.RefuseBelow, a.ReliableFrom, ErrInvalid)
	}
	if err := (Query{}).shaping(&r).validate(); err != nil {
		return fmt.Errorf("retrieval.%w", err)
	}
	return nil
}
