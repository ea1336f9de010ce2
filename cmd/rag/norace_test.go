//go:build !race

package main

// raceDetector says whether the tests run under it.
const raceDetector = false
