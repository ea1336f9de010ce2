//go:build arm64 && !purego

package simd

//go:noescape
func dotRowsNEON(q *float32, n int, rows **float32, count int, out *float32)

//go:noescape
func dotInt8RowsNEON(q *int8, n int, rows **int8, count int, out *int32)

// instructions are a set that vectors are multiplied with. There is one.
type instructions uint8

const neon instructions = 0

// dotRows sets out to the products of q with count rows of n values; n is above 0 and a multiple of floatStep.
func (instructions) dotRows(q *float32, n int, rows **float32, count int, out *float32) {
	dotRowsNEON(q, n, rows, count, out)
}

// dotInt8Rows is dotRows for integers, with int8Step.
func (instructions) dotInt8Rows(q *int8, n int, rows **int8, count int, out *int32) {
	dotInt8RowsNEON(q, n, rows, count, out)
}
