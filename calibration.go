package rag

import (
	"context"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/internal/logistic"
)

// Calibration turns the evidence of a search into the confidence that the passages found answer the question. It stands in
// the header of the collection that it was fitted on, and holds only for the embedder, sparse index and reranker that it
// was fitted with.
type Calibration struct {
	Embedder   string    `json:"embedder"` // fingerprints; "" of what there was none of
	Sparse     string    `json:"sparse"`
	Reranker   string    `json:"reranker"`
	Features   []string  `json:"features"`   // what the evidence is taken from; the next three have a value for each, in order
	Weights    []float64 `json:"weights"`    // in log odds for each deviation from the mean
	Mean       []float64 `json:"mean"`       // over the questions
	Scale      []float64 `json:"scale"`      // standard deviation; 0 of a feature that tells nothing
	Bias       float64   `json:"bias"`       // log odds of a question that is average in everything
	Questions  int       `json:"questions"`  // that it was fitted to
	Answerable int       `json:"answerable"` // of them
	Fitted     time.Time `json:"fitted"`
}

// confidence estimates the chance that the evidence is that of a question which can be answered.
func (c *Calibration) confidence(features []float64) float64 {
	return logistic.Model{Bias: c.Bias, Weights: c.Weights, Mean: c.Mean, Scale: c.Scale}.Probability(features)
}

// defaultCalibration was fitted to the 225 questions of the open question-answering set, in English, Chinese and French,
// over four collections, with the default providers; see bench/answers.md for the figures and the command.
var defaultCalibration = Calibration{
	Features: evidenceFeatures,
	Weights:  make([]float64, 11), Mean: make([]float64, 11), Scale: make([]float64, 11),
}

// calibration returns what the confidence is estimated by: what stands in the collection's header if that fits this
// engine, else the default, with a note if there is one that does not fit.
func (a *answering) calibration(ctx context.Context) Calibration {
	h, exists, err := a.readHeader(ctx, a.answer.Collection)
	if err != nil || !exists || h.Calibration == nil {
		return defaultCalibration
	}
	if why := a.stale(h.Calibration); why != "" {
		a.note(StageEvidence, "", "the collection's calibration is not used: it was fitted with another "+why+"; `rag calibrate` fits it anew")
		return defaultCalibration
	}
	return *h.Calibration
}

// stale says by what a calibration is out of date, "" if it is not.
func (e *Engine) stale(c *Calibration) string {
	now := e.newHeader()
	switch {
	case c.Embedder != now.Embedder:
		return "embedder"
	case c.Sparse != now.Sparse:
		return "sparse index"
	case c.Reranker != e.rerankerName():
		return "reranker"
	case !slices.Equal(c.Features, evidenceFeatures) || len(c.Weights) != len(c.Features) || len(c.Mean) != len(c.Features) || len(c.Scale) != len(c.Features):
		return "version of this program"
	}
	return ""
}
