package slab

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages: many systems give them only where they are asked for.
func adviseHuge(piece []byte) {
	_ = unix.Madvise(piece, unix.MADV_HUGEPAGE) // an advice; kernels built without them refuse it
}
