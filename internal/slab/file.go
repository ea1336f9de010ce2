package slab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrCorrupt is the kind of the errors of [Read] for content that is not a whole slab.
var ErrCorrupt = errors.New("slab is corrupt")

// fileMagic begins a file, in the byte order of the machine that wrote it, as all that follows. The last byte is the
// format's version.
const fileMagic = uint32('s')<<24 | uint32('l')<<16 | uint32('b')<<8 | 1

// header is what a file begins with.
type header struct {
	Magic, Kind, Dims, Len uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteTo writes all slots, with a checksum at the end; [Read] reads it on machines of the same byte order. The caller
// keeps Set away.
func (s *Slab) WriteTo(w io.Writer) (int64, error) {
	sum := crc32.New(castagnoli)
	out := &counter{w: io.MultiWriter(w, sum)}
	h := header{fileMagic, uint32(s.kind), uint32(s.dims), s.len.Load()}
	if err := binary.Write(out, binary.NativeEndian, h); err != nil {
		return out.n, err
	}
	for _, rows := range s.arrays() {
		err := rows.Pieces(s.Len(), func(piece []byte) error {
			_, err := out.Write(piece)
			return err
		})
		if err != nil {
			return out.n, err
		}
	}
	return out.n + crc32.Size, binary.Write(w, binary.NativeEndian, sum.Sum32())
}

// arrays returns the memory of a slab, in the order of the file.
func (s *Slab) arrays() []*Rows {
	if s.scales == nil {
		return []*Rows{s.rows}
	}
	return []*Rows{s.rows, s.scales}
}

// Read reads what [Slab.WriteTo] wrote.
func Read(r io.Reader) (*Slab, error) {
	sum := crc32.New(castagnoli)
	in := io.TeeReader(r, sum)
	var h header
	if err := binary.Read(in, binary.NativeEndian, &h); err != nil {
		return nil, corrupt(err)
	}
	if h.Magic != fileMagic || h.Kind > uint32(Int8) || h.Len > MaxRows {
		return nil, fmt.Errorf("header %x: %w", h, ErrCorrupt)
	}
	s, err := New(Kind(h.Kind), int(h.Dims))
	if err != nil {
		return nil, corrupt(err)
	}
	if err := s.read(in, int(h.Len)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	want := sum.Sum32()
	var got uint32
	if err := binary.Read(r, binary.NativeEndian, &got); err != nil {
		return nil, errors.Join(corrupt(err), s.Close())
	}
	if got != want {
		return nil, errors.Join(fmt.Errorf("checksum %08x, want %08x: %w", want, got, ErrCorrupt), s.Close())
	}
	s.len.Store(h.Len)
	return s, nil
}

func (s *Slab) read(in io.Reader, n int) error {
	for _, rows := range s.arrays() {
		if err := rows.Fill(in, n); err != nil {
			return err
		}
	}
	return nil
}

// Fill grows the array to n rows and reads them. It takes no more memory than there is content.
func (r *Rows) Fill(in io.Reader, n int) error {
	for from := 0; from < n; {
		to := min(n, (from>>r.shift+1)<<r.shift)
		if err := r.Grow(to); err != nil {
			return err
		}
		piece, next := r.bytes(uint32(from), uint32(to))
		if _, err := io.ReadFull(in, piece); err != nil {
			return corrupt(err)
		}
		from = int(next)
	}
	return nil
}

// corrupt gives an error of reading its kind.
func corrupt(err error) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
