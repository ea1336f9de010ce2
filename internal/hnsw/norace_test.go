//go:build !race

package hnsw_test

// raceDetector says whether the test runs under it, and slower the factor that tests are made smaller by.
const (
	raceDetector = false
	slower       = 1
)
