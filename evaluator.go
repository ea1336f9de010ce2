package rag

import (
	"context"
	"encoding/json"
	"math"
)

// Evaluator measures answers: package eval has one that asks a chat model, one that needs no model, and one that joins
// several.
type Evaluator interface {
	// Metrics names what it measures; it never changes.
	Metrics() []string
	// Evaluate returns for each of the metrics one value per sample, in order: from 0 to 1, higher is better, or a null
	// with its reason where the metric does not apply or a judge gave no verdict. Its errors, such as that of a done
	// context, are those for which no sample can be measured.
	Evaluate(ctx context.Context, samples []EvalSample) (map[string][]EvalValue, error)
}

// EvalSample is a question with what came of it.
type EvalSample struct {
	Question  string
	Answer    string   // without markers; "" if there is none
	Contexts  []string // the passages that were found, best first
	Reference string   // a right answer; "" if it is not known
	Refused   bool     // the answer says that there is none
}

// EvalValue is a number, or the reason why there is none: what cannot be measured is never 0 and never NaN. In JSON it is
// a number, or {"null": "reason"}.
type EvalValue struct {
	Number float64
	Null   string // why there is no number; "": there is one
}

// EvalNumber returns a value that is there, or a null if it is not finite.
func EvalNumber(v float64) EvalValue {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return EvalNull("not a finite number")
	}
	return EvalValue{Number: v}
}

// EvalNull returns a value that is not there. A reason "" becomes "no reason is given".
func EvalNull(reason string) EvalValue {
	if reason == "" {
		reason = "no reason is given"
	}
	return EvalValue{Null: reason}
}

// OK reports whether there is a number.
func (v EvalValue) OK() bool { return v.Null == "" }

// evalNull is how a value that is not there stands in JSON.
type evalNull struct {
	Null string `json:"null"`
}

// MarshalJSON writes the number or the reason.
func (v EvalValue) MarshalJSON() ([]byte, error) {
	if v.OK() {
		return json.Marshal(v.Number)
	}
	return json.Marshal(evalNull{v.Null})
}

// UnmarshalJSON reads what MarshalJSON writes, and null without a reason.
func (v *EvalValue) UnmarshalJSON(b []byte) error {
	var n evalNull
	if json.Unmarshal(b, &n) == nil { // an object, or null
		*v = EvalNull(n.Null)
		return nil
	}
	*v = EvalValue{}
	return json.Unmarshal(b, &v.Number)
}
