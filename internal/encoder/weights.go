package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
)

// weights is an opened weights file; it reads from the file's bytes.
type weights struct {
	config  Config
	prefix  string // what stands before the names of tensors
	tensors map[string]tensorEntry
	data    []byte   // nil while only the shapes are looked at
	size    int      // of data, in bytes
	file    *mapping // that data is part of; nil if data is memory of its own
}

// add takes a tensor in whose place lies within the file.
func (w *weights) add(t tensorEntry) error {
	size, err := t.size()
	if err != nil {
		return err
	}
	if t.Offset < 0 || t.Offset > w.size || size > w.size-t.Offset {
		return fmt.Errorf("tensor %s lies outside the file, which is cut off: %w", t.Name, ErrFormat)
	}
	w.tensors[t.Name] = t
	return nil
}

// find returns the tensor of this name, with or without the file's prefix: heads stand beside the model they are for.
func (w *weights) find(name string) (tensorEntry, bool) {
	if t, ok := w.tensors[w.prefix+name]; ok {
		return t, true
	}
	t, ok := w.tensors[name]
	return t, ok
}

// table is a tensor in the file.
type table struct {
	form       Form
	rows, cols int
	scales     []byte // Int8: a float32 per row
	values     []byte
}

// entry returns the place of the tensor of this name, which must have this shape.
func (w *weights) entry(name string, rows, cols int) (tensorEntry, error) {
	t, ok := w.find(name)
	if !ok {
		return t, fmt.Errorf("there is no tensor %s%s: %w", w.prefix, name, ErrFormat)
	}
	if t.Rows != rows || t.Cols != cols {
		return t, fmt.Errorf("tensor %s: want %d x %d, have %d x %d: %w", name, rows, cols, t.Rows, t.Cols, ErrFormat)
	}
	return t, nil
}

// table returns the tensor of this name, which must have this shape.
func (w *weights) table(name string, rows, cols int) (*table, error) {
	t, err := w.entry(name, rows, cols)
	if err != nil {
		return nil, err
	}
	size, err := t.size()
	if err != nil {
		return nil, err
	}
	out := &table{form: t.Type, rows: rows, cols: cols, values: w.data[t.Offset : t.Offset+size]}
	if t.Type == Int8 {
		out.scales, out.values = out.values[:4*rows], out.values[4*rows:]
	}
	return out, nil
}

// quantised reports whether the values are rounded to few bits.
func (t *table) quantised() bool { return t.form == Int8 || t.form == Int4 }

// row writes the weights of one row to dst, which is as long as a row.
func (t *table) row(r int, dst []float32) {
	stride := len(t.values) / t.rows
	raw := t.values[r*stride : (r+1)*stride]
	switch t.form {
	case Float32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case bfloat16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	case float16:
		for i := range dst {
			dst[i] = halfFloat(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case Int8:
		scale := math.Float32frombits(binary.LittleEndian.Uint32(t.scales[4*r:]))
		for i, v := range raw {
			dst[i] = scale * float32(int8(v))
		}
	case Int4:
		for ; len(raw) > 0; raw, dst = raw[blockBytes:], dst[blockValues:] {
			scale := halfFloat(binary.LittleEndian.Uint16(raw))
			for i, v := range raw[2:blockBytes] {
				dst[i] = scale * float32(int(v&15)-8)
				dst[blockValues/2+i] = scale * float32(int(v>>4)-8)
			}
		}
	}
}

// rows returns all values of a tensor, row by row.
func (w *weights) rows(name string, rows, cols int) ([]float32, error) {
	t, err := w.table(name, rows, cols)
	if err != nil {
		return nil, err
	}
	v := make([]float32, rows*cols)
	for r := range rows {
		t.row(r, v[r*cols:(r+1)*cols])
	}
	return v, nil
}

// vector returns a tensor of one row.
func (w *weights) vector(name string, n int) ([]float32, error) { return w.rows(name, 1, n) }

// Parts of an IEEE half float.
const (
	halfFraction = 10 // bits
	halfBias     = 15 // of the exponent
	halfTop      = 31 // exponent of infinities and NaNs
)

// halfFloat returns the value of an IEEE half float.
func halfFloat(bits uint16) float32 {
	sign := uint32(bits>>15) << 31
	exponent, fraction := uint32(bits>>halfFraction&halfTop), uint32(bits&(1<<halfFraction-1))
	switch exponent {
	case 0: // subnormal: a multiple of the smallest one
		v := float32(fraction) * (1.0 / (1 << (halfBias + halfFraction - 1)))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case halfTop:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<(23-halfFraction))
	}
	return math.Float32frombits(sign | (exponent+127-halfBias)<<23 | fraction<<(23-halfFraction))
}

// halfBits returns the half float that is nearest to v, ties to the even one; |v| is at most its largest, 65504.
func halfBits(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits>>31) << 15
	const drop = 23 - halfFraction
	if exponent := int(bits>>23&255) - 127 + halfBias; exponent <= 0 { // subnormal
		n := math.RoundToEven(math.Abs(float64(v)) * (1 << (halfBias + halfFraction - 1)))
		return sign | uint16(n)
	}
	bits += 1<<(drop-1) - 1 + bits>>drop&1 // rounds; may carry into the exponent, as it should
	return sign | uint16((bits&(1<<31-1))>>drop-(127-halfBias)<<halfFraction)
}
