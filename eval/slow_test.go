//go:build race || purego || !amd64

package eval_test

// slowEncoder says that a model takes ten times as long: without assembly, or under the race detector.
const slowEncoder = true
