//go:build (amd64 || arm64) && !purego

package simd

import "unsafe"

// Assembly takes rows by steps of 64 bytes; what is beyond the last whole step is done in Go.
const (
	floatStep = 16
	int8Step  = 64
)

// setVectors makes products of vectors from the loops of a set of instructions. It goes by number, not by function: the
// compiler then knows that what they get stays on the stack.
func (k *Kernels) setVectors(set instructions) {
	k.Dot = func(a, b []float32) (sum float32) {
		n := len(a) &^ (floatStep - 1)
		b = b[:len(a)]
		if n > 0 {
			row := &b[0]
			set.dotRows(&a[0], n, &row, 1, &sum)
		}
		if n < len(a) {
			sum += dotGo(a[n:], b[n:])
		}
		return sum
	}
	k.DotRows = func(q []float32, rows []*float32, out []float32) {
		n := len(q) &^ (floatStep - 1)
		out = out[:len(rows)]
		if n > 0 && len(rows) > 0 {
			set.dotRows(&q[0], n, &rows[0], len(rows), &out[0])
		} else {
			clear(out)
		}
		if n < len(q) {
			for i, row := range rows {
				out[i] += dotGo(q[n:], unsafe.Slice(row, len(q))[n:])
			}
		}
	}
	k.DotInt8 = func(a, b []int8) (sum int32) {
		n := len(a) &^ (int8Step - 1)
		b = b[:len(a)]
		if n > 0 {
			row := &b[0]
			set.dotInt8Rows(&a[0], n, &row, 1, &sum)
		}
		return sum + dotInt8Go(a[n:], b[n:])
	}
	k.DotInt8Rows = func(q []int8, rows []*int8, out []int32) {
		n := len(q) &^ (int8Step - 1)
		out = out[:len(rows)]
		if n > 0 && len(rows) > 0 {
			set.dotInt8Rows(&q[0], n, &rows[0], len(rows), &out[0])
		} else {
			clear(out)
		}
		if n < len(q) {
			for i, row := range rows {
				out[i] += dotInt8Go(q[n:], unsafe.Slice(row, len(q))[n:])
			}
		}
	}
}
