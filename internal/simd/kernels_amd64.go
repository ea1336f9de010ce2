//go:build amd64 && !purego

package simd

import "golang.org/x/sys/cpu"

//go:noescape
func tileAVX2(a *float32, lda int, b, c *float32, ldc, k int)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func tile16AVX512(a *float32, lda int, b, c *float32, ldc, k int)

//go:noescape
func tile32AVX512(a *float32, lda int, b0, b1, c *float32, ldc, k int)

//go:noescape
func dotVNNI(a *int16, rowScales *float32, b0, b1 *int16, scales, c *float32, ldc, k int)

//go:noescape
func shortsAVX512(x *float32, to *int16, n int, top float32) float32

// Available returns the kernels that this processor has, the fastest first.
func Available() []Kernels {
	all := []Kernels{Portable()}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return all
	}
	plain := Kernels{
		Name: "avx2",
		Rows: 6,
		Tile: func(a []float32, lda int, b, c []float32, ldc, k int) {
			tileAVX2(&a[0], lda, &b[0], &c[0], ldc, k)
		},
		Softmax: func(x []float32) { softmaxAVX2(&x[0], len(x)) },
		GELU:    func(x []float32) { geluAVX2(&x[0], len(x)) },
	}
	plain.setVectors(avx2)
	all = append([]Kernels{plain}, all...)
	if !cpu.X86.HasAVX512F {
		return all
	}
	wide := plain
	wide.Name, wide.Rows = "avx512", 12
	wide.Tile = func(a []float32, lda int, b, c []float32, ldc, k int) {
		tile16AVX512(&a[0], lda, &b[0], &c[0], ldc, k)
	}
	wide.Pair = func(a []float32, lda int, b0, b1, c []float32, ldc, k int) {
		tile32AVX512(&a[0], lda, &b0[0], &b1[0], &c[0], ldc, k)
	}
	wide.setVectors(avx512)
	all = append([]Kernels{wide}, all...)
	if !cpu.X86.HasAVX512VNNI {
		return all
	}
	vnni := wide
	vnni.Name = "avx512-vnni"
	vnni.Round = func(x []float32, to []int16, top float32) float32 {
		return shortsAVX512(&x[0], &to[0], len(x), top)
	}
	vnni.TileShorts = func(a []int16, rowScales []float32, b0, b1 []int16, scales, c []float32, ldc, k int) {
		dotVNNI(&a[0], &rowScales[0], &b0[0], &b1[0], &scales[0], &c[0], ldc, k)
	}
	vnni.setVectors(avx512VNNI)
	return append([]Kernels{vnni}, all...)
}
