//go:build amd64 && !purego

package simd

//go:noescape
func dotRowsAVX2(q *float32, n int, rows **float32, count int, out *float32)

//go:noescape
func dotInt8RowsAVX2(q *int8, n int, rows **int8, count int, out *int32)

//go:noescape
func dotRowsAVX512(q *float32, n int, rows **float32, count int, out *float32)

//go:noescape
func dotInt8RowsVNNI(q *int8, n int, rows **int8, count int, out *int32)

// instructions are a set that vectors are multiplied with.
type instructions uint8

const (
	avx2 instructions = iota
	avx512
	avx512VNNI
)

// dotRows sets out to the products of q with count rows of n values; n is above 0 and a multiple of floatStep.
func (set instructions) dotRows(q *float32, n int, rows **float32, count int, out *float32) {
	if set >= avx512 {
		dotRowsAVX512(q, n, rows, count, out)
	} else {
		dotRowsAVX2(q, n, rows, count, out)
	}
}

// dotInt8Rows is dotRows for integers, with int8Step.
func (set instructions) dotInt8Rows(q *int8, n int, rows **int8, count int, out *int32) {
	if set >= avx512VNNI {
		dotInt8RowsVNNI(q, n, rows, count, out)
	} else {
		dotInt8RowsAVX2(q, n, rows, count, out)
	}
}
