package rag

// Component is a provider in its slot of an engine.
type Component struct {
	Slot     string `json:"slot"`     // as [Config] names it
	Provider string `json:"provider"` // its registered name, or its type if an option gave it; [None] if the slot is empty
	Detail   string `json:"detail"`   // its fingerprint: model, sizes, version; "" if it says nothing of itself, or is not made yet
}

// Components tells what an engine is made of, in the order of its work: loading, then searching, then answering. It asks no
// provider to do anything.
func (e *Engine) Components() []Component {
	c := &e.config
	one := func(slot, stage, configured string, p any) Component {
		made := Component{Slot: slot, Provider: configured}
		if given := e.methods[stage]; given != "" {
			made.Provider = given
		}
		if f, ok := p.(Fingerprinter); ok {
			made.Detail = f.Fingerprint()
		}
		return made
	}
	list := []Component{one("ocr", "ocr", c.OCR.Provider, e.loaders.ocr), one("splitter", StageSplit, c.Splitter.Provider, e.splitter)}
	for i, t := range e.transformers {
		name := providerName(t)
		if i < len(c.Transforms) && len(c.Transforms) == len(e.transformers) {
			name = c.Transforms[i].Provider
		}
		list = append(list, one("transforms", "", name, t))
	}
	embedder := one("embedder", StageEmbed, c.Embedder.Provider, nil)
	if e.embedder != nil {
		embedder.Detail = e.embedder.Model().Fingerprint()
	}
	e.ranker.mu.Lock()
	reranker := e.ranker.made
	e.ranker.mu.Unlock()
	list = append(list,
		embedder,
		one("vector_store", StageDense, unlessNil(e.vectors, c.VectorStore.Provider), e.vectors),
		one("sparse_index", StageSparse, c.SparseIndex.Provider, e.sparse),
		one("catalog", StageCommit, c.Catalog.Provider, e.catalog),
	)
	for _, t := range e.queryTransforms {
		list = append(list, one("query_transforms", "", t.name, t.QueryTransformer))
	}
	return append(list,
		one("fusion", StageFusion, c.Fusion.Provider, nil),
		one("rerank", StageRerank, c.Rerank.Provider, reranker),
		one("llm", "llm", c.LLM.Provider, e.chat),
		one("vision_llm", "vision_llm", c.VisionLLM.Provider, e.vision),
		one("verifier", StageVerify, unlessNil(e.verifier, c.Verifier.Provider), e.verifier),
		one("trace", "trace", c.Trace.Provider, e.sink),
	)
}

// unlessNil returns the configured name of a provider, or None if the engine goes without.
func unlessNil(p any, configured string) string {
	if p == nil {
		return None
	}
	return configured
}

// Fits reports whether the engine can search a collection with all it has: ErrFingerprint, with both fingerprints and the way
// out, if the collection was built by another embedder or analyzer.
func (e *Engine) Fits(info CollectionInfo) error {
	return e.checkHeader(info.Name, info.Header, e.embedder != nil, true)
}
