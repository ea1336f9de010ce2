package rag

import "context"

// RecallMeasurer is implemented by vector stores that may miss some of the nearest: they say how many.
type RecallMeasurer interface {
	// Recall returns the last measurement of a collection; the zero value if there is none, or nothing can be missed.
	Recall(ctx context.Context, collection string) (Recall, error)
	// MeasureRecall checks a collection's index and measures now; the zero value if nothing can be missed.
	MeasureRecall(ctx context.Context, collection string) (Recall, error)
	// Rebuild makes the index of a collection anew from its records, which puts right what MeasureRecall finds wrong.
	Rebuild(ctx context.Context, collection string) error
}

// Recall is how much of what an exact search finds an approximate one finds.
type Recall struct {
	K           int      `json:"k"`                  // nearest looked at of each question
	Sampled     int      `json:"sampled"`            // questions; 0: nothing was measured
	Value       float64  `json:"value"`              // share of the true nearest that were found, 0 to 1
	Records     int      `json:"records"`            // in the collection when it was measured
	Unreachable int      `json:"unreachable"`        // records that no search finds
	Problems    []string `json:"problems,omitempty"` // what else is wrong with the index
}

// OK reports whether nothing is wrong with the index.
func (r Recall) OK() bool { return r.Unreachable == 0 && len(r.Problems) == 0 }

// Recall returns what was last measured of a collection's vectors. It is the zero value if nothing was, as where searches
// are exact, or there are no vectors.
func (e *Engine) Recall(ctx context.Context, collection string) (_ Recall, err error) {
	defer e.hide(&err)
	if err := e.whole("recall"); err != nil {
		return Recall{}, err
	}
	name := e.collection(collection)
	info, err := e.existing(ctx, name)
	m, ok := e.vectors.(RecallMeasurer)
	if err != nil || !ok || info.Header.Embedder == "" {
		return Recall{}, err
	}
	return m.Recall(ctx, indexName(name, info.Header.Generation))
}

// measureRecall adds to a report what the vector store says of its index.
func (e *Engine) measureRecall(ctx context.Context, rep *VerifyReport, h Header) error {
	m, ok := e.vectors.(RecallMeasurer)
	if !ok || h.Embedder == "" {
		return nil
	}
	r, err := m.MeasureRecall(ctx, indexName(rep.Collection, h.Generation))
	if err != nil {
		return err
	}
	if r.Sampled > 0 || !r.OK() {
		rep.Recall = &r
	}
	rep.OK = rep.OK && r.OK()
	return nil
}

// rebuildVectors puts the vector store's index right where a report says that something is wrong with it.
func (e *Engine) rebuildVectors(ctx context.Context, rep *VerifyReport, h Header) error {
	if rep.Recall == nil || rep.Recall.OK() {
		return nil
	}
	e.log.Info("building the index of vectors anew", "collection", rep.Collection, "unreachable", rep.Recall.Unreachable, "problems", rep.Recall.Problems)
	if err := e.vectors.(RecallMeasurer).Rebuild(ctx, indexName(rep.Collection, h.Generation)); err != nil {
		return &StageError{Stage: StageDense, Err: err}
	}
	rep.Repaired = true
	return nil
}
