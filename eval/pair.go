package eval

import (
	"math"

	"github.com/seed-d8745b77/rag"
)

// Pair is what a baseline and something else made of one question, in one metric.
type Pair struct {
	ID       string        `json:"id"`
	Question string        `json:"question"`
	A        rag.EvalValue `json:"a"` // the baseline's
	B        rag.EvalValue `json:"b"`
}

// What becomes of a question between two runs.
const (
	Won        = "won"        // its value is larger than the baseline's
	Lost       = "lost"       // it is smaller
	Tied       = "tied"       // both are equal
	Unmeasured = "unmeasured" // one of the two is null
)

// Outcome returns one of the constants above.
func (p Pair) Outcome() string {
	d, ok := p.diff()
	switch {
	case !ok:
		return Unmeasured
	case d > 0:
		return Won
	case d < 0:
		return Lost
	}
	return Tied
}

// tie is the difference that rounding makes.
const tie = 1e-12

// diff is how much larger B is than A; ok is false where one of them is null.
func (p Pair) diff() (d float64, ok bool) {
	if !p.A.OK() || !p.B.OK() {
		return 0, false
	}
	if d = p.B.Number - p.A.Number; math.Abs(d) <= tie {
		d = 0
	}
	return d, true
}

// Pairs returns what two runs made of each question that both asked, in a metric by its full name ("document/mrr"), in the
// order of a. Questions for which one of them does not have the metric are left out.
func Pairs(a, b *Run, metric string) []Pair {
	var pairs []Pair
	for _, q := range commonQuestions(a, b) {
		was, okA := q.a.Metrics[metric]
		is, okB := q.b.Metrics[metric]
		if okA && okB {
			pairs = append(pairs, Pair{q.a.ID, q.a.Question, was, is})
		}
	}
	return pairs
}

// commonQuestion is a question that two runs asked.
type commonQuestion struct{ a, b *Outcome }

func commonQuestions(a, b *Run) []commonQuestion {
	ofB := map[string]*Outcome{}
	for i := range b.Questions {
		ofB[b.Questions[i].ID] = &b.Questions[i]
	}
	var common []commonQuestion
	for i := range a.Questions {
		if other := ofB[a.Questions[i].ID]; other != nil {
			common = append(common, commonQuestion{&a.Questions[i], other})
		}
	}
	return common
}
