package ragtest

// Trait tells a suite what is special about a provider.
type Trait func(*traits)

type traits struct {
	volatile bool
	recall   float64 // least share of the true 10 nearest
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
