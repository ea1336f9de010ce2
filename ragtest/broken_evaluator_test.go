package ragtest_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func init() { maps.Copy(broken, brokenEvaluators) }

// brokenEvaluators are evaluators that break a promise each.
var brokenEvaluators = map[string]brokenCase{
	"evaluator without metrics":     {"metrics have names, each once, that never change", evaluatorThat(nil, nil)},
	"evaluator with a metric twice": {"metrics have names, each once, that never change", evaluatorThat([]string{"length", "length"}, answerLength)},
	"evaluator whose metrics change": {"metrics have names, each once, that never change", func(t *testing.T) {
		ragtest.TestEvaluator(t, func(*testing.T) rag.Evaluator { return &changingEvaluator{} })
	}},
	"evaluator that takes NaN for a value": {"one value per metric and sample, from 0 to 1 or null: empty", evaluatorThat([]string{"length"}, func(list []rag.EvalSample) []rag.EvalValue {
		values := answerLength(list)
		for i, s := range list {
			if s.Answer == "" {
				values[i] = rag.EvalValue{Number: math.NaN()}
			}
		}
		return values
	})},
	"evaluator above 1": {"one value per metric and sample, from 0 to 1 or null: one", evaluatorThat([]string{"length"}, func(list []rag.EvalSample) []rag.EvalValue {
		values := make([]rag.EvalValue, len(list))
		for i, s := range list {
			values[i] = rag.EvalNumber(float64(len(s.Answer)))
		}
		return values
	})},
	"evaluator that leaves refusals out": {"one value per metric and sample, from 0 to 1 or null: refused", evaluatorThat([]string{"length"}, func(list []rag.EvalSample) []rag.EvalValue {
		var values []rag.EvalValue
		for i, v := range answerLength(list) {
			if !list[i].Refused {
				values = append(values, v)
			}
		}
		return values
	})},
	"evaluator that changes the samples": {"one value per metric and sample, from 0 to 1 or null: refused", evaluatorThat([]string{"length"}, func(list []rag.EvalSample) []rag.EvalValue {
		for i := range list {
			list[i].Refused = false
		}
		return answerLength(list)
	})},
	"evaluator that gives nulls last": {"values stand in the order of the samples", evaluatorThat([]string{"length"}, func(list []rag.EvalSample) []rag.EvalValue {
		var numbers, nulls []rag.EvalValue
		for _, v := range answerLength(list) {
			if v.OK() {
				numbers = append(numbers, v)
			} else {
				nulls = append(nulls, v)
			}
		}
		return append(numbers, nulls...)
	})},
	"evaluator that rolls dice": {"the same samples get the same values, also in many goroutines", evaluatorThat([]string{"length"}, dice())},
	"evaluator that ignores its context": {"a cancelled context ends the work with its error", func(t *testing.T) {
		ragtest.TestEvaluator(t, func(*testing.T) rag.Evaluator { return &fakeEvaluator{[]string{"length"}, answerLength, true} })
	}},
}

// answerLength is a measure that keeps all promises: the longer the answer, the nearer to 1.
func answerLength(list []rag.EvalSample) []rag.EvalValue {
	values := make([]rag.EvalValue, len(list))
	for i, s := range list {
		if values[i] = rag.EvalNull("there is no answer"); s.Answer != "" {
			values[i] = rag.EvalNumber(1 - 1/float64(1+len(s.Answer)))
		}
	}
	return values
}

// dice gives other values at each call.
func dice() func([]rag.EvalSample) []rag.EvalValue {
	var calls atomic.Int64
	return func(list []rag.EvalSample) []rag.EvalValue {
		n := calls.Add(1)
		values := make([]rag.EvalValue, len(list))
		for i := range values {
			values[i] = rag.EvalNumber(1 / float64(n))
		}
		return values
	}
}

// fakeEvaluator gives each of its metrics the values of a function.
type fakeEvaluator struct {
	metrics []string
	values  func([]rag.EvalSample) []rag.EvalValue
	deaf    bool // it does not look at its context
}

func (e *fakeEvaluator) Metrics() []string { return e.metrics }

func (e *fakeEvaluator) Evaluate(ctx context.Context, list []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	if err := ctx.Err(); err != nil && !e.deaf {
		return nil, err
	}
	all := map[string][]rag.EvalValue{}
	for _, m := range e.metrics {
		all[m] = e.values(list)
	}
	return all, nil
}

func evaluatorThat(metrics []string, values func([]rag.EvalSample) []rag.EvalValue) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestEvaluator(t, func(*testing.T) rag.Evaluator { return &fakeEvaluator{metrics, values, false} })
	}
}

// changingEvaluator calls its metric something else after each evaluation.
type changingEvaluator struct{ done atomic.Int64 }

func (e *changingEvaluator) Metrics() []string { return []string{fmt.Sprint("length", e.done.Load())} }

func (e *changingEvaluator) Evaluate(ctx context.Context, list []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	values := map[string][]rag.EvalValue{e.Metrics()[0]: answerLength(list)}
	e.done.Add(1)
	return values, ctx.Err()
}

func TestAnEvaluatorThatKeepsItsPromises(t *testing.T) {
	ragtest.TestEvaluator(t, func(*testing.T) rag.Evaluator { return &fakeEvaluator{[]string{"length"}, answerLength, false} })
}
