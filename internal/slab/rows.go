package slab

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// MaxRows is the number of rows that an array can have.
const MaxRows = 1 << 31

// hugePage is the size of the pages that a processor translates with one entry of its table: with the usual ones of 4
// KiB a walk over more than a few thousand vectors mostly waits for translations.
const hugePage = 2 << 20

// maxChunk bounds what an array takes from the system at a time, in bytes.
const maxChunk = 8 << 20

// Rows is a growable array of rows of equal size, zero at first, outside of the Go heap where the system allows. Rows
// never move: one goroutine may grow the array while others read. What is in a row is for its user to guard.
type Rows struct {
	stride uintptr // bytes
	shift  uint    // of the number of rows in a chunk
	chunks atomic.Pointer[[]chunk]
}

// chunk is memory for some rows.
type chunk struct {
	start unsafe.Pointer
	free  func() error
}

// NewRows returns an empty array of rows of the given number of bytes. Rows start at multiples of stride's largest
// power of two, up to that of a page.
func NewRows(stride int) *Rows {
	r := &Rows{stride: uintptr(stride)}
	for r.stride<<r.shift%hugePage != 0 {
		r.shift++
	}
	for r.shift > 0 && r.stride<<r.shift > maxChunk {
		r.shift--
	}
	r.chunks.Store(&[]chunk{})
	return r
}

// Grow makes room for n rows in all.
func (r *Rows) Grow(n int) error {
	if n > MaxRows {
		return fmt.Errorf("%d rows are more than the %d that fit", n, MaxRows)
	}
	chunks := *r.chunks.Load()
	for len(chunks)<<r.shift < n {
		start, free, err := allocate(r.stride << r.shift)
		if err != nil {
			return fmt.Errorf("memory for %d rows of %d bytes: %w", n, r.stride, err)
		}
		// Appending may write beside what readers see, but never into it.
		chunks = append(chunks, chunk{start, free})
		grown := chunks
		r.chunks.Store(&grown)
	}
	return nil
}

// Row returns where a row starts. The array must have grown to it.
func (r *Rows) Row(i uint32) unsafe.Pointer {
	chunks := *r.chunks.Load()
	return unsafe.Add(chunks[i>>r.shift].start, uintptr(i&(1<<r.shift-1))*r.stride)
}

// bytes returns rows from, a first one, to, one past the last, that lie in one piece of memory: fewer than asked for
// where a chunk ends.
func (r *Rows) bytes(from, to uint32) (piece []byte, next uint32) {
	next = min(to, (from>>r.shift+1)<<r.shift)
	return unsafe.Slice((*byte)(r.Row(from)), uintptr(next-from)*r.stride), next
}

// Pieces calls f with the memory of rows 0 to n-1, piece by piece and in order, and stops at an error.
func (r *Rows) Pieces(n int, f func([]byte) error) error {
	for from := uint32(0); from < uint32(n); {
		piece, next := r.bytes(from, uint32(n))
		if err := f(piece); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// Close gives the memory back. No row may be used afterwards.
func (r *Rows) Close() error {
	var first error
	for _, c := range *r.chunks.Load() {
		if err := c.free(); err != nil && first == nil {
			first = err
		}
	}
	r.chunks.Store(&[]chunk{})
	return first
}
