//go:build !race

package racetest

// What tests know of the race detector.
const (
	Detector = false // whether they run under it
	Slower   = 1     // the factor by which work of one goroutine is made smaller
)
