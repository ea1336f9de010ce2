//go:build (!amd64 && !arm64) || purego

package simd

// Available returns the kernels that this processor has, the fastest first.
func Available() []Kernels { return []Kernels{Portable()} }
