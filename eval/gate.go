package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

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

// ParseRules reads the rules of a gate: least means, and how far metrics may fall below a baseline's. That there are none is
// ErrInvalid: a gate that asks for nothing holds always.
func ParseRules(least, drops []string) ([]Rule, error) {
	var rules []Rule
	for i, text := range append(least[:len(least):len(least)], drops...) {
		rule, err := ParseRule(text, i >= len(least))
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("no rule is given: %w", rag.ErrInvalid)
	}
	return rules, nil
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
