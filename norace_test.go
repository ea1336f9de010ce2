//go:build !race

package rag_test

// slower is the factor that tests of one goroutine are made smaller by under the race detector.
const slower = 1
