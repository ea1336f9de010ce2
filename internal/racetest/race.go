//go:build race

package racetest

// What tests know of the race detector.
const (
	Detector = true // whether they run under it
	Slower   = 4    // the factor by which work of one goroutine is made smaller
)
