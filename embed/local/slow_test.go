//go:build race

package local_test

// referenceStep takes every so many texts of the reference: the race detector slows the encoder down tenfold.
const referenceStep = 20
