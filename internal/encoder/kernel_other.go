//go:build (!amd64 && !arm64) || purego

package encoder

// available returns the kernels that this processor has, the fastest first.
func available() []kernels { return []kernels{portable()} }
