package ragtest

import (
	"testing"

	"github.com/seed-d8745b77/rag/internal/racetest"
)

// Trait tells a suite what is special about a provider.
type Trait func(*traits)

type traits struct {
	volatile bool
	recall   float64 // least share of the true 10 nearest
	slow     bool
	excepted map[string]string
}

func traitsOf(list []Trait) traits {
	t := traits{recall: 1}
	for _, set := range list {
		set(&t)
	}
	return t
}

// Volatile says that the provider keeps nothing when it is closed: nothing is reopened.
func Volatile() Trait { return func(t *traits) { t.volatile = true } }

// Approximate says that a vector store may miss some of the nearest: on average over the questions of the suite it must
// find at least this share of the true first ten.
func Approximate(recall float64) Trait { return func(t *traits) { t.recall = recall } }

// Slow says that a call of the provider takes long. Under the race detector, which makes it take longer, a suite then leaves out
// the cases in which one goroutine measures at length: they race with nobody, and run without it.
func Slow() Trait { return func(t *traits) { t.slow = true } }

// measuring are the sentences whose cases one goroutine measures at length.
var measuring = map[string]bool{
	"each record finds itself":                                                  true,
	"the nearest are found after a third was deleted and added again":           true,
	"every filter gives exactly min(K, matches), whatever its selectivity":      true,
	"the nearest are found under filters that select from 50 % to 0.01 %":       true,
	"1,000 rounds of add, delete and re-add agree with a map":                   true,
	"a filtered search gives exactly min(K, matches), whatever the selectivity": true,
	"adding, deleting and adding again leaves no trace in ranks and scores":     true,
}

// Except says that a provider is known not to keep a sentence of the contract, and why: the case of that name is skipped
// with the reason.
func Except(sentence, reason string) Trait {
	return func(t *traits) {
		if t.excepted == nil {
			t.excepted = map[string]string{}
		}
		t.excepted[sentence] = reason
	}
}

func (tr *traits) skipExcepted(t *testing.T, sentence string) {
	if racetest.Detector && tr.slow && measuring[sentence] {
		t.Skip("measured without the race detector")
	}
	if reason, ok := tr.excepted[sentence]; ok {
		t.Skip(reason)
	}
}
