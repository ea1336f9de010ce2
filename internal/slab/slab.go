// Package slab holds vectors by number and scores them against a query, as float32 or, in a quarter of the memory, as
// integers of eight bits.
//
//	s, err := slab.New(slab.Int8, 384)
//	err = s.Set(0, vector)
//	var q slab.Query
//	s.Prepare(question, &q)
//	if s.Pin() {
//		s.Scores(&q, []uint32{0}, scores)
//		s.Unpin()
//	}
package slab

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// Kind is the form that vectors are kept in.
type Kind uint8

// The kinds.
const (
	Float32 Kind = iota // as given: 4 bytes a value
	Int8                // rounded, with one scale for each vector: a byte a value and four
)

// String returns "float32" or "int8".
func (k Kind) String() string {
	switch k {
	case Float32:
		return "float32"
	case Int8:
		return "int8"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MaxDims is the largest number of dimensions: products of int8 vectors of that length fit 32 bits.
const MaxDims = 1 << 16

// rowAlign is a cache line, and what the widest kernels take at a time: rows are padded with zeros to a multiple of it.
const rowAlign = 64

// Slab holds vectors of unit length, each in a numbered slot; a score is an inner product, which is the cosine.
//
// One goroutine at a time may call Set and Close. Others read meanwhile, between Pin and Unpin: slots that were set
// before, and that they have learned of by some synchronisation. A slot may be set again only when nobody can be
// reading it, see Exclusive.
type Slab struct {
	kind    Kind
	dims    int
	width   int // values of a row, with padding
	kernels simd.Kernels
	rows    *Rows
	scales  *Rows // of int8 rows: a float32 each; nil for Float32
	len     atomic.Uint32

	pins   sync.RWMutex // held for reading by readers
	closed bool
}

// New returns an empty slab for vectors of 1 to [MaxDims] dimensions.
func New(kind Kind, dims int) (*Slab, error) {
	if dims < 1 || dims > MaxDims {
		return nil, fmt.Errorf("%d dimensions: want 1 to %d", dims, MaxDims)
	}
	s := &Slab{kind: kind, dims: dims, kernels: simd.Fastest()}
	size := 4
	switch kind {
	case Float32:
	case Int8:
		size, s.scales = 1, NewRows(4)
	default:
		return nil, fmt.Errorf("unknown kind of vectors %d", kind)
	}
	stride := (dims*size + rowAlign - 1) / rowAlign * rowAlign
	s.width, s.rows = stride/size, NewRows(stride)
	return s, nil
}

// Kind returns the form that vectors are kept in.
func (s *Slab) Kind() Kind { return s.kind }

// Dims returns the number of dimensions.
func (s *Slab) Dims() int { return s.dims }

// Len returns the number of slots: one more than the highest that was set. Slots between that were not set are zero.
func (s *Slab) Len() int { return int(s.len.Load()) }

// Bytes returns the memory that the slots take.
func (s *Slab) Bytes() int64 {
	row := int64(s.rows.stride)
	if s.scales != nil {
		row += int64(s.scales.stride)
	}
	return row * int64(s.Len())
}

// Set puts a vector of Dims values into a slot, growing the slab as needed.
func (s *Slab) Set(slot uint32, vector []float32) error {
	if len(vector) != s.dims {
		return fmt.Errorf("vector of %d dimensions in a slab of %d", len(vector), s.dims)
	}
	if err := s.grow(int(slot) + 1); err != nil {
		return err
	}
	if s.kind == Float32 {
		copy(s.floats(slot), vector)
	} else {
		*s.scale(slot) = quantise(vector, s.codes(slot))
	}
	if slot >= s.len.Load() {
		s.len.Store(slot + 1)
	}
	return nil
}

func (s *Slab) grow(n int) error {
	if s.scales != nil {
		if err := s.scales.Grow(n); err != nil {
			return err
		}
	}
	return s.rows.Grow(n)
}

// floats returns a row of kind Float32, with its padding.
func (s *Slab) floats(slot uint32) []float32 {
	return unsafe.Slice((*float32)(s.rows.Row(slot)), s.width)
}

// codes returns a row of kind Int8, with its padding.
func (s *Slab) codes(slot uint32) []int8 {
	return unsafe.Slice((*int8)(s.rows.Row(slot)), s.width)
}

func (s *Slab) scale(slot uint32) *float32 { return (*float32)(s.scales.Row(slot)) }

// quantise rounds a vector to multiples of a 127th of its largest value and returns what one stands for.
//
// One scale for each vector costs four bytes and needs no pass over the data to be found, and none of the vectors that
// come later can be out of its range.
func quantise(vector []float32, codes []int8) (scale float32) {
	var most float32
	for _, x := range vector {
		most = max(most, x, -x)
	}
	clear(codes)
	if most == 0 {
		return 0
	}
	for i, x := range vector {
		codes[i] = int8(math.RoundToEven(float64(x / most * math.MaxInt8)))
	}
	return most / math.MaxInt8
}

// Vector appends the vector of a slot to out: the one that was set, rounded if the slab is of kind Int8.
func (s *Slab) Vector(slot uint32, out []float32) []float32 {
	if s.kind == Float32 {
		return append(out, s.floats(slot)[:s.dims]...)
	}
	scale := *s.scale(slot)
	for _, c := range s.codes(slot)[:s.dims] {
		out = append(out, float32(c)*scale)
	}
	return out
}

// hashSeed makes [Slab.Hash] differ between processes.
var hashSeed = maphash.MakeSeed()

// Hash returns the same number for equal vectors as long as the process runs.
func (s *Slab) Hash(slot uint32) uint64 { return maphash.Bytes(hashSeed, s.bytes(slot)) }

// Equal reports whether the vectors of two slots are the same, as they are kept.
func (s *Slab) Equal(a, b uint32) bool {
	return (s.scales == nil || *s.scale(a) == *s.scale(b)) && bytes.Equal(s.bytes(a), s.bytes(b))
}

func (s *Slab) bytes(slot uint32) []byte {
	return unsafe.Slice((*byte)(s.rows.Row(slot)), s.rows.stride)
}

// Pin begins reading: until Unpin, no slot's memory goes away, nor is any slot reused that is freed meanwhile. It
// returns false if the slab is closed; then there is nothing to read or unpin. Pins must not be nested.
func (s *Slab) Pin() bool {
	s.pins.RLock()
	if s.closed {
		s.pins.RUnlock()
		return false
	}
	return true
}

// Unpin ends reading.
func (s *Slab) Unpin() { s.pins.RUnlock() }

// Exclusive calls f when nobody reads, and lets nobody read before it returns. After it, slots that are not to be
// found any more may be set again.
func (s *Slab) Exclusive(f func()) {
	s.pins.Lock()
	defer s.pins.Unlock()
	f()
}

// Close waits for those who read and gives the memory back.
func (s *Slab) Close() (err error) {
	s.Exclusive(func() {
		s.closed = true
		err = s.rows.Close()
		if s.scales != nil {
			if scales := s.scales.Close(); err == nil {
				err = scales
			}
		}
	})
	return err
}
