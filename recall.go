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
