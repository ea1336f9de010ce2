package eval

import "fmt"

// RunComparison compares two runs metric by metric.
type RunComparison struct {
	A       string                `json:"a"` // labels
	B       string                `json:"b"`
	Common  int                   `json:"common"`    // questions that both have
	OnlyA   []string              `json:"only_in_a"` // IDs of questions
	OnlyB   []string              `json:"only_in_b"`
	Metrics map[string]Comparison `json:"metrics"` // of those that both runs have
	Changed map[string][]string   `json:"changed"` // IDs of the questions whose value differs, nulls among them, by metric
	Notes   []string              `json:"notes"`   // why the runs may not be comparable
}

// CompareRuns compares b with a, question by question; [Pairs] gives the values behind a metric.
func CompareRuns(a, b *Run) *RunComparison {
	c := &RunComparison{A: a.Label, B: b.Label, OnlyA: missingIn(b, a), OnlyB: missingIn(a, b), Metrics: map[string]Comparison{}, Changed: map[string][]string{}, Notes: []string{}}
	c.Common = len(a.Questions) - len(c.OnlyA)
	for _, name := range sortedKeys(a.Metrics) {
		if _, both := b.Metrics[name]; !both {
			continue
		}
		pairs := Pairs(a, b, name)
		c.Metrics[name] = Compare(pairs)
		for _, p := range pairs {
			if p.A != p.B {
				c.Changed[name] = append(c.Changed[name], p.ID)
			}
		}
	}
	if a.TestSet.SHA256 != b.TestSet.SHA256 {
		c.Notes = append(c.Notes, "the test sets are not the same file")
	}
	for _, q := range commonQuestions(a, b) {
		if q.a.Question != q.b.Question {
			c.Notes = append(c.Notes, fmt.Sprintf("question %s is worded differently", q.a.ID))
		}
	}
	return c
}

// missingIn lists the IDs of the questions of a run that another does not have.
func missingIn(other, of *Run) []string {
	have := map[string]bool{}
	for _, q := range other.Questions {
		have[q.ID] = true
	}
	ids := []string{}
	for _, q := range of.Questions {
		if !have[q.ID] {
			ids = append(ids, q.ID)
		}
	}
	return ids
}
