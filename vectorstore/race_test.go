//go:build race

package vectorstore_test

import "github.com/seed-d8745b77/rag/ragtest"

// slower is the factor that collections are made smaller by.
const slower = 4

// measured leaves out what measures one goroutine at length: under the race detector it takes ten times as long and finds
// nothing that the rest of the suite does not.
func measured(traits ...ragtest.Trait) []ragtest.Trait {
	const reason = "measured without the race detector"
	return append(traits,
		ragtest.Except("the nearest are found after a third was deleted and added again", reason),
		ragtest.Except("the nearest are found under filters that select from 50 % to 0.01 %", reason),
		ragtest.Except("every filter gives exactly min(K, matches), whatever its selectivity", reason))
}
