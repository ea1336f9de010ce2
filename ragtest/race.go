//go:build race

package ragtest

const raceDetector = true
