//go:build race || purego || !amd64

package encoder

// goldenStep takes every so many of the golden vectors: few, since the encoder takes ten times as long without assembly
// or under the race detector.
const goldenStep = slowStep
