//go:build arm64 && !purego

package simd

//go:noescape
func tileNEON(a *float32, lda int, b, c *float32, ldc, k int)

// Available returns the kernels that this processor has, the fastest first. All of this architecture have NEON.
func Available() []Kernels {
	fast := Portable()
	fast.Name = "neon"
	fast.Tile = func(a []float32, lda int, b, c []float32, ldc, k int) {
		tileNEON(&a[0], lda, &b[0], &c[0], ldc, k)
	}
	fast.setVectors(neon)
	return []Kernels{fast, Portable()}
}
