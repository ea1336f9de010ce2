//go:build !race

package hugot_test

// checked is how many of the texts are compared: all of them.
const checked = 8
