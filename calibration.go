package rag

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/internal/logistic"
)

// Calibration turns the evidence of a search into the confidence that the passages found answer the question. It stands in
// the header of the collection that it was fitted on, and holds only for the embedder, sparse index and reranker that it
// was fitted with.
type Calibration struct {
	Embedder   string          `json:"embedder"` // fingerprints; "" of what there was none of
	Sparse     string          `json:"sparse"`
	Reranker   string          `json:"reranker"`
	Features   []string        `json:"features"`   // what the evidence is taken from, in the order of the models' weights
	Full       ConfidenceModel `json:"full"`       // for searches with a dense lane
	Words      ConfidenceModel `json:"words"`      // for those without: of the features only those of words count
	Questions  int             `json:"questions"`  // that it was fitted to
	Answerable int             `json:"answerable"` // of them
	Fitted     time.Time       `json:"fitted"`
}

// ConfidenceModel is a logistic regression.
type ConfidenceModel struct {
	Bias    float64   `json:"bias"`    // log odds where everything is average
	Weights []float64 `json:"weights"` // log odds for each deviation from the mean, by feature
	Mean    []float64 `json:"mean"`    // of the features, over the questions
	Scale   []float64 `json:"scale"`   // their standard deviations; 0 of a feature that tells nothing
}

// Confidence estimates the chance that the evidence is that of a question which can be answered.
func (c *Calibration) Confidence(features []float64) float64 {
	m := logistic.Model(c.Full)
	if math.IsNaN(features[wordFeatures]) {
		m = logistic.Model(c.Words)
	}
	return m.Probability(features)
}

// defaultFor returns the calibration that is used where a collection has none: the one fitted for the embedder, else that
// of words alone, since cosines of another model mean something else.
func defaultFor(e Embedder) Calibration {
	c := Calibration{Features: evidenceFeatures, Words: defaultWords, Full: defaultWords}
	if e != nil {
		if full, ok := defaultFull[e.Model().Name]; ok {
			c.Full = full
		}
	}
	return c
}

// calibration returns what the confidence is estimated by: what stands in the collection's header if that fits this
// engine, else the default, with a note if there is one that does not fit.
func (a *answering) calibration(ctx context.Context) Calibration {
	builtIn := defaultFor(a.embedder)
	h, err := a.header(ctx)
	if err != nil || h.Calibration == nil {
		return builtIn
	}
	if why := a.stale(h.Calibration); why != "" {
		a.note(StageEvidence, "", "the collection's calibration is not used: it was fitted with another "+why+"; `rag calibrate` fits it anew")
		return builtIn
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
	case !slices.Equal(c.Features, evidenceFeatures) || !c.Full.fits() || !c.Words.fits():
		return "version of this program"
	}
	return ""
}

// fits reports whether the model has a number for each feature.
func (m *ConfidenceModel) fits() bool {
	n := len(evidenceFeatures)
	return len(m.Weights) == n && len(m.Mean) == n && len(m.Scale) == n
}

// The models that answers are judged by where a collection has no calibration. They were fitted to the questions of the
// open question-answering set (225, in English, Chinese and French, over four collections), with the default providers
// and each embedder: `go run ./bench/answers -fit`. On collections that they were not fitted to, the refusals of the first
// are right 28 times of 31 and find 38 % of the questions without an answer, 10 % of those on the collection's own
// subject; RELIABLE answers are to questions with an answer in 93 %. See bench/answers.md.
var defaultWords = ConfidenceModel{
	Weights: []float64{0.2891, 0.4396, 0.1804, -0.2402, 0.3082, -0.2609, 0, 0, 0, 0, 0},
	Mean:    []float64{0.4445, 0.5390, 0.3714, 0.2299, 0.3058, 0.0267, 0, 0, 0, 0, 0},
	Scale:   []float64{0.2866, 0.3055, 0.2507, 0.1817, 0.2478, 0.1611, 0, 0, 0, 0, 0},
	Bias:    0.9088,
}

// defaultFull by the name of the embedding model.
var defaultFull = map[string]ConfidenceModel{
	"all-MiniLM-L6-v2-int8": {
		Weights: []float64{0.1671, 0.2303, 0.1392, -0.2374, 0.1950, -0.3190, 0.3313, 0.2094, 0.2378, 0, 0},
		Mean:    []float64{0.4464, 0.5507, 0.3790, 0.2544, 0.3278, 0.0359, 0.4273, 0.1498, 0.7183, 0, 0},
		Scale:   []float64{0.2778, 0.3020, 0.2449, 0.1771, 0.2553, 0.1861, 0.1684, 0.0964, 0.3046, 0, 0},
		Bias:    1.0557,
	},
	"multilingual-e5-small-8-i4": {
		Weights: []float64{0.1323, 0.3092, 0.1037, -0.1885, 0.2037, -0.3206, 0.5033, 0.2554, 0.2670, 0, 0},
		Mean:    []float64{0.4448, 0.5410, 0.3706, 0.2288, 0.3085, 0.0222, 0.8525, 0.0268, 0.7270, 0, 0},
		Scale:   []float64{0.2867, 0.3056, 0.2511, 0.1826, 0.2498, 0.1474, 0.0382, 0.0175, 0.3122, 0, 0},
		Bias:    0.9364,
	},
}
