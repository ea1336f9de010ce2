//go:build race

package rag_test

// slower is the factor that tests of one goroutine are made smaller by.
const slower = 4
