//go:build !race && !purego && amd64

package eval_test

const slowEncoder = false
