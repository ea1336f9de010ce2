//go:build race

package hnsw_test

// raceDetector says whether the test runs under it.
const raceDetector = true
