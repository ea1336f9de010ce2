package rag

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-d8745b77/rag/internal/logistic"
)

// CalibrateRequest says on what a collection's confidence is fitted.
type CalibrateRequest struct {
	Collection string // "" means Config.Collection
	Questions  []LabelledQuestion
	DryRun     bool // measure, and keep nothing
}

// LabelledQuestion is a question of which it is known whether the collection answers it.
type LabelledQuestion struct {
	Query      Query // its Collection is not looked at
	Answerable bool
}

// CalibrationReport says how well the confidence tells the questions apart. All figures are of questions that the model
// which judged them was not fitted to.
type CalibrationReport struct {
	Calibration Calibration `json:"calibration"`
	Evidence    RiskCurve   `json:"evidence"` // by the fitted confidence
	Cosine      RiskCurve   `json:"cosine"`   // by the cosine of the nearest passage; empty without a dense lane
	Refusals    Refusals    `json:"refusals"` // at Config.Answer.RefuseBelow
}

// Refusals counts what a threshold does.
type Refusals struct {
	Threshold float64 `json:"threshold"`
	Right     int     `json:"right"`    // refused, and not answerable
	Wrong     int     `json:"wrong"`    // refused, and answerable
	Missed    int     `json:"missed"`   // answered, and not answerable
	Answered  int     `json:"answered"` // answered, and answerable
}

// Precision is the share of the refused that cannot be answered; NaN if none was refused.
func (r *Refusals) Precision() float64 { return float64(r.Right) / float64(r.Right+r.Wrong) }

// Recall is the share of those that cannot be answered that was refused; NaN if all can.
func (r *Refusals) Recall() float64 { return float64(r.Right) / float64(r.Right+r.Missed) }

// leastQuestions of each kind are needed for a fit: with fewer, chance decides.
const leastQuestions = 10

// calibrationFolds is into how many parts the questions are cut to judge each by a model fitted to the others.
const calibrationFolds = 5

// calibrationPenalty keeps the weights of the features small, since questions are few and features alike. In bench/answers
// the risk on other collections falls up to here.
const calibrationPenalty = 20

// Calibrate fits the collection's confidence to questions of which it is known whether it answers them, and keeps it in
// the collection's header. The same questions give the same fit.
//
// Errors: ErrNotFound (no such collection), ErrInvalid (fewer than ten questions of either kind), and those of Search.
func (e *Engine) Calibrate(ctx context.Context, req CalibrateRequest) (_ *CalibrationReport, err error) {
	defer e.hide(&err)
	if err := e.whole("calibrate"); err != nil {
		return nil, err
	}
	name := e.collection(req.Collection)
	if _, err := e.existing(ctx, name); err != nil {
		return nil, err
	}
	var examples []example
	answerable := 0
	for i, q := range req.Questions {
		q.Query.Collection = name
		x, err := e.example(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		if examples = append(examples, x); x.answerable {
			answerable++
		}
	}
	if min(answerable, len(examples)-answerable) < leastQuestions {
		return nil, fmt.Errorf("calibrate: %d questions that can be answered and %d that cannot: give at least %d of each: %w",
			answerable, len(examples)-answerable, leastQuestions, ErrInvalid)
	}
	rep := e.crossValidate(examples)
	rep.Calibration = e.fit(examples)
	if req.DryRun {
		return rep, nil
	}
	info, unlock, err := e.turn(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	info.Header.Calibration = &rep.Calibration
	return rep, e.catalog.Commit(ctx, name, []Change{{Header: &info.Header}})
}

// example is a question as the fit sees it.
type example struct {
	features   []float64
	answerable bool
}

// example looks at the evidence for a question, without a trace.
func (e *Engine) example(ctx context.Context, q LabelledQuestion) (example, error) {
	a := e.newAnswering(AskRequest{Query: q.Query}, func(AnswerEvent) bool { return true })
	if err := a.find(ctx); err != nil {
		return example{}, err
	}
	if err := a.weighEvidence(ctx); err != nil {
		return example{}, err
	}
	return example{a.evidence.values, q.Answerable}, nil
}

func (e *Engine) fit(examples []example) Calibration {
	h := e.newHeader()
	full, words := fitConfidence(examples)
	c := Calibration{
		Embedder: h.Embedder, Sparse: h.Sparse, Reranker: e.rerankerName(), Features: slices.Clone(evidenceFeatures),
		Full: full, Words: words, Questions: len(examples), Fitted: e.now().UTC(),
	}
	for _, x := range examples {
		if x.answerable {
			c.Answerable++
		}
	}
	return c
}

// fitConfidence fits both models: one to the questions with a dense lane, and one to the words of all.
func fitConfidence(examples []example) (full, words ConfidenceModel) {
	var features [][]float64
	var answerable []bool
	for _, x := range examples {
		features, answerable = append(features, x.features), append(answerable, x.answerable)
	}
	return FitConfidence(features, answerable)
}

// FitConfidence fits the two models of a [Calibration] to evidence (values of [EvidenceFeatures], NaN where a search does
// not have one) of which it is known whether it is that of a question which can be answered.
func FitConfidence(evidence [][]float64, answerable []bool) (full, words ConfidenceModel) {
	var dense, masked [][]float64
	var ofDense []bool
	for i, values := range evidence {
		if !math.IsNaN(values[wordFeatures]) {
			dense, ofDense = append(dense, values), append(ofDense, answerable[i])
		}
		only := slices.Clone(values)
		for j := wordFeatures; j < len(only); j++ {
			only[j] = math.NaN()
		}
		masked = append(masked, only)
	}
	words = ConfidenceModel(logistic.Fit(masked, answerable, calibrationPenalty))
	if full = ConfidenceModel(logistic.Fit(dense, ofDense, calibrationPenalty)); len(dense) == 0 {
		full = words
	}
	return full, words
}

// crossValidate judges each question by a model that was fitted to the other parts. The parts take turns in each of the
// two kinds, so that all have both.
func (e *Engine) crossValidate(examples []example) *CalibrationReport {
	part, turn := make([]int, len(examples)), map[bool]int{}
	for i, ex := range examples {
		part[i] = turn[ex.answerable] % calibrationFolds
		turn[ex.answerable]++
	}
	var evidence, cosine []float64
	var answerable []bool
	rep := &CalibrationReport{Refusals: Refusals{Threshold: e.config.Answer.RefuseBelow}}
	for fold := range calibrationFolds {
		var others []example
		for i, ex := range examples {
			if part[i] != fold {
				others = append(others, ex)
			}
		}
		var c Calibration
		c.Full, c.Words = fitConfidence(others)
		for i, ex := range examples {
			if part[i] != fold {
				continue
			}
			p := c.Confidence(ex.features)
			evidence, cosine = append(evidence, p), append(cosine, ex.cosine())
			answerable = append(answerable, ex.answerable)
			rep.Refusals.add(p < rep.Refusals.Threshold, ex.answerable)
		}
	}
	rep.Evidence, rep.Cosine = riskCurve(evidence, answerable), riskCurve(cosine, answerable)
	return rep
}

// cosine of the nearest passage; 0 where the search has none.
func (x example) cosine() float64 {
	if v := x.features[slices.Index(evidenceFeatures, "cosine")]; !math.IsNaN(v) {
		return v
	}
	return 0
}

func (r *Refusals) add(refused, answerable bool) {
	switch {
	case refused && answerable:
		r.Wrong++
	case refused:
		r.Right++
	case answerable:
		r.Answered++
	default:
		r.Missed++
	}
}

// rerankerName names the reranker that a calibration depends on, "" if there is none.
func (e *Engine) rerankerName() string {
	r, err := e.makeReranker()
	if err != nil || r == nil {
		return ""
	}
	if d, ok := r.(RerankDescriber); ok && d.RerankModel().Name != "" {
		return d.RerankModel().Name
	}
	return fingerprint(r)
}
