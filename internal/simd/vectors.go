package simd

import "unsafe"

// dotGo is the inner product of two vectors of one length. Eight sums keep the processor's adders busy, and pointers to
// arrays spare the bounds checks.
func dotGo(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
}

func dotRowsGo(q []float32, rows []*float32, out []float32) {
	for i, row := range rows {
		out[i] = dotGo(q, unsafe.Slice(row, len(q)))
	}
}

// dotInt8Go is the inner product of two vectors of one length.
func dotInt8Go(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]int8)(a), (*[4]int8)(b)
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += int32(x) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

func dotInt8RowsGo(q []int8, rows []*int8, out []int32) {
	for i, row := range rows {
		out[i] = dotInt8Go(q, unsafe.Slice(row, len(q)))
	}
}
