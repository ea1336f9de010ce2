// Package racetest says what tests leave out under the race detector, where compiled code runs several times slower.
package racetest

import "testing"

// Skip skips, under the race detector, a test that does one thing after the other, or that watches other processes: it
// shows no race that smaller tests do not, and runs without the detector.
func Skip(t testing.TB) {
	t.Helper()
	if Detector {
		t.Skip("skipped under the race detector: one thing after the other, which races with nobody")
	}
}
