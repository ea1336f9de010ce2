//go:build darwin || linux

package slab

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate returns zeroed memory in huge pages where the system has them.
func allocate(size uintptr) (start unsafe.Pointer, free func() error, err error) {
	// The system aligns to its small pages; a huge page more leaves room to align to that.
	mapped, err := unix.Mmap(-1, 0, int(size+hugePage), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	base := uintptr(unsafe.Pointer(&mapped[0]))
	piece := mapped[(hugePage-base%hugePage)%hugePage:][:size]
	adviseHuge(piece)
	return unsafe.Pointer(&piece[0]), func() error { return unix.Munmap(mapped) }, nil
}
