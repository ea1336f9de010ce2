//go:build !race

package cli

// raceDetector says whether the tests run under it.
const raceDetector = false
