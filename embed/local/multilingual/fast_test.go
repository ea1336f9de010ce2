//go:build !race && !purego && amd64

package multilingual_test

// referenceStep takes every so many texts of the reference: all of them.
const referenceStep = 1
