package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// RunComparison compares two runs metric by metric.
type RunComparison struct {
	A       string                `json:"a"` // labels
	B       string                `json:"b"`
	Common  int                   `json:"common"`    // questions that both have
	OnlyA   []string              `json:"only_in_a"` // IDs of questions
	OnlyB   []string              `json:"only_in_b"`
	Metrics map[string]Comparison `json:"metrics"` // of those that both runs have
	Changed map[string][]string   `json:"changed"` // IDs of the questions whose value differs, by metric
	Notes   []string              `json:"notes"`   // why the runs may not be comparable
}

// CompareRuns compares b with a, question by question.
func CompareRuns(a, b *Run) *RunComparison {
	c := &RunComparison{A: a.Label, B: b.Label, OnlyA: []string{}, OnlyB: []string{}, Metrics: map[string]Comparison{}, Changed: map[string][]string{}, Notes: []string{}}
	ofB := map[string]*Outcome{}
	for i := range b.Questions {
		ofB[b.Questions[i].ID] = &b.Questions[i]
	}
	var left, right []*Outcome
	for i := range a.Questions {
		q := &a.Questions[i]
		if other := ofB[q.ID]; other != nil {
			left, right = append(left, q), append(right, other)
			delete(ofB, q.ID)
		} else {
			c.OnlyA = append(c.OnlyA, q.ID)
		}
	}
	c.OnlyB, c.Common = append(c.OnlyB, sortedKeys(ofB)...), len(left)
	for _, name := range sortedKeys(a.Metrics) {
		if _, both := b.Metrics[name]; both {
			c.metric(name, left, right)
		}
	}
	if a.TestSet.SHA256 != b.TestSet.SHA256 {
		c.Notes = append(c.Notes, "the test sets are not the same file")
	}
	for i := range left {
		if left[i].Question != right[i].Question {
			c.Notes = append(c.Notes, fmt.Sprintf("question %s is worded differently", left[i].ID))
		}
	}
	return c
}

func (c *RunComparison) metric(name string, left, right []*Outcome) {
	var was, is []rag.EvalValue
	for i := range left {
		l, okL := left[i].Metrics[name]
		r, okR := right[i].Metrics[name]
		if !okL || !okR {
			continue
		}
		was, is = append(was, l), append(is, r)
		if l != r {
			c.Changed[name] = append(c.Changed[name], left[i].ID)
		}
	}
	c.Metrics[name] = Compare(was, is)
}

// Rule is a condition that a run must meet.
type Rule struct {
	Metric string
	Bound  float64
	Drop   bool // Bound is how far the mean may fall below the baseline's; otherwise it is the least mean
}

// ParseRule reads "metric=number".
func ParseRule(text string, drop bool) (Rule, error) {
	name, number, ok := strings.Cut(text, "=")
	bound, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(bound >= 0) || name == "" {
		return Rule{}, fmt.Errorf("rule %q: a metric and a number from 0 on, such as ndcg@10=0.7, are wanted: %w", text, rag.ErrInvalid)
	}
	return Rule{strings.TrimSpace(name), bound, drop}, nil
}

// Verdict is what became of a rule.
type Verdict struct {
	Metric string   `json:"metric"` // with its level
	OK     bool     `json:"ok"`
	Value  *float64 `json:"value"` // nil: the run has no such metric, or no value of it
	Base   *float64 `json:"baseline,omitempty"`
	Want   string   `json:"want"`
	Nulls  int      `json:"nulls"` // questions that have no value
	Reason string   `json:"reason,omitempty"`
}

// Gate holds a run against rules; baseline may be nil if no rule is about a drop. A metric that the run does not have breaks
// its rule: a gate that measures nothing lets nothing pass.
func Gate(run, baseline *Run, rules []Rule) (verdicts []Verdict, ok bool) {
	ok = true
	for _, r := range rules {
		v := r.hold(run, baseline)
		verdicts, ok = append(verdicts, v), ok && v.OK
	}
	return verdicts, ok
}

func (r Rule) hold(run, baseline *Run) Verdict {
	name, _ := run.fullName(r.Metric)
	score := run.Metrics[name]
	v := Verdict{Metric: name, Value: score.Mean, Nulls: score.Nulls, Want: fmt.Sprintf("at least %g", r.Bound)}
	if score.Mean == nil {
		v.Reason = "the run has no value of this metric; it has " + strings.Join(sortedKeys(run.Metrics), ", ")
		return v
	}
	if !r.Drop {
		v.OK = *score.Mean >= r.Bound-tie
		return v
	}
	v.Want = fmt.Sprintf("at most %g below the baseline", r.Bound)
	if baseline != nil {
		v.Base = baseline.Metrics[name].Mean
	}
	if v.Base == nil {
		v.Reason = "the baseline has no value of this metric"
		return v
	}
	v.OK = *v.Base-*score.Mean <= r.Bound+tie
	return v
}
