//go:build amd64 && !purego

package encoder

import "golang.org/x/sys/cpu"

//go:noescape
func tileAVX2(a *float32, lda int, b, c *float32, ldc, k int)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int)

// fastest returns the kernels of this processor.
func fastest() kernels {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portable()
	}
	return kernels{
		name: "avx2",
		tile: func(a []float32, lda int, b, c []float32, ldc, k int) {
			tileAVX2(&a[0], lda, &b[0], &c[0], ldc, k)
		},
		softmax: func(x []float32) { softmaxAVX2(&x[0], len(x)) },
		gelu:    func(x []float32) { geluAVX2(&x[0], len(x)) },
	}
}
