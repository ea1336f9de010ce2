//go:build arm64 && !purego

package encoder

//go:noescape
func tileNEON(a *float32, lda int, b, c *float32, ldc, k int)

// available returns the kernels that this processor has, the fastest first. All of this architecture have NEON.
func available() []kernels {
	neon := portable()
	neon.name = "neon"
	neon.tile = func(a []float32, lda int, b, c []float32, ldc, k int) {
		tileNEON(&a[0], lda, &b[0], &c[0], ldc, k)
	}
	return []kernels{neon, portable()}
}
