//go:build !race

package ragtest

// raceDetector says whether the tests run under it.
const raceDetector = false
