//go:build race

package examples_test

// raceDetector says whether the tests run under it.
const raceDetector = true
