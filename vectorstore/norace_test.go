//go:build !race

package vectorstore_test

import "github.com/seed-d8745b77/rag/ragtest"

// slower is the factor that collections are made smaller by under the race detector.
const slower = 1

// measured adds nothing: what the suite measures is measured.
func measured(traits ...ragtest.Trait) []ragtest.Trait { return traits }
