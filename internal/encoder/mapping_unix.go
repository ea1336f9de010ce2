//go:build darwin || linux

package encoder

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory, read only; it is unmapped when nothing refers to the mapping any more.
func mapFile(name string) (*mapping, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s has %d bytes of %s: %w", name, info.Size(), info.Mode().Type(), ErrFormat)
	}
	bytes, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "map", Path: name, Err: err}
	}
	m := &mapping{bytes: bytes}
	runtime.AddCleanup(m, func(b []byte) { _ = unix.Munmap(b) }, bytes) // nobody is left to be told
	return m, nil
}

// forget gives the memory of what was read back to the system, which can read it again from the file.
func (m *mapping) forget() {
	_ = unix.Madvise(m.bytes, unix.MADV_DONTNEED) // an advice
}
