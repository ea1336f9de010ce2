//go:build !race

package postgres_test

// raceDetector says whether the tests run under it.
const raceDetector = false
