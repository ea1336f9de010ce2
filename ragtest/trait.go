package ragtest

import "testing"

// Trait tells a suite what is special about a provider.
type Trait func(*traits)

type traits struct {
	volatile bool
	recall   float64 // least share of the true 10 nearest
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
	if reason, ok := tr.excepted[sentence]; ok {
		t.Skip(reason)
	}
}
