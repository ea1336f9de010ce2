//go:build !amd64 || purego

package encoder

// fastest returns the kernels of this processor.
func fastest() kernels { return portable() }
