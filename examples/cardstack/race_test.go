//go:build race

package main_test

// raceDetector says whether the tests run under it.
const raceDetector = true
