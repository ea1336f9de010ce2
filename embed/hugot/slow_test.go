//go:build race

package hugot_test

// checked is how many of the texts are compared: few, since compiled code runs ten times slower under the race detector.
const checked = 2
