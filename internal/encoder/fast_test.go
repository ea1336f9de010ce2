//go:build !race && !purego && amd64

package encoder

// goldenStep takes every so many of the golden vectors: all of them.
const goldenStep = 1
