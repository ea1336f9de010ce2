//go:build race || purego || !amd64

package multilingual_test

// referenceStep takes every so many texts of the reference: few, since the encoder takes ten times as long without
// assembly or under the race detector.
const referenceStep = 20
