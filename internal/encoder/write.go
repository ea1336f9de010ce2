package encoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Write writes a weights file of the tensors, in their order, each in the form that is asked for its name: [Float32],
// [Int8] or [Int4]. The same input gives the same bytes.
func Write(w io.Writer, config Config, tensors []Tensor, form func(name string) Form) error {
	if err := config.validate(); err != nil {
		return err
	}
	h := header{Config: config}
	var data []byte
	for _, t := range tensors {
		entry := tensorEntry{Name: t.Name, Type: form(t.Name), Rows: t.Rows, Cols: t.Cols, Offset: len(data)}
		if _, err := entry.size(); err != nil {
			return err
		}
		if len(t.Values) != t.Rows*t.Cols {
			return fmt.Errorf("tensor %s: %d values for %d x %d", t.Name, len(t.Values), t.Rows, t.Cols)
		}
		switch entry.Type {
		case Float32:
			data = appendFloats(data, t.Values...)
		case Int8:
			data = appendInt8(data, t)
		case Int4:
			data = appendInt4(data, t.Values)
		default:
			return fmt.Errorf("tensor %s: a weights file has no form %q", t.Name, entry.Type)
		}
		h.Tensors = append(h.Tensors, entry)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	file := make([]byte, prefixSize, prefixSize+len(head)+len(data)+digestSize)
	copy(file, magic)
	file[len(magic)] = formatVersion
	binary.LittleEndian.PutUint32(file[prefixSize-4:], uint32(len(head)))
	file = append(append(file, head...), data...)
	digest := sha256.Sum256(file)
	_, err = w.Write(append(file, digest[:]...))
	return err
}

// appendInt8 appends the scales of the rows, each such that the row's largest value is 127, then the values, rounded.
func appendInt8(data []byte, t Tensor) []byte {
	rows := make([][]float32, t.Rows)
	scales := make([]float32, t.Rows)
	for r := range rows {
		rows[r] = t.Values[r*t.Cols : (r+1)*t.Cols]
		for _, v := range rows[r] {
			scales[r] = max(scales[r], v/math.MaxInt8, -v/math.MaxInt8)
		}
	}
	data = appendFloats(data, scales...)
	for r, row := range rows {
		for _, v := range row {
			q := 0.0
			if scales[r] > 0 {
				q = math.Round(float64(v) / float64(scales[r]))
			}
			data = append(data, byte(int8(q)))
		}
	}
	return data
}

// appendInt4 appends blocks, each with the scale by which its farthest value becomes -8: so no value is cut off but
// those near that one's opposite, which become 7.
func appendInt4(data []byte, values []float32) []byte {
	const zero, top = 8, 15
	for ; len(values) > 0; values = values[blockValues:] {
		var farthest float32
		for _, v := range values[:blockValues] {
			if max(v, -v) > max(farthest, -farthest) {
				farthest = v
			}
		}
		bits := halfBits(farthest / -zero)
		scale := float64(halfFloat(bits))
		nibble := func(v float32) byte {
			if scale == 0 {
				return zero
			}
			return byte(min(max(math.Round(float64(v)/scale)+zero, 0), top))
		}
		data = binary.LittleEndian.AppendUint16(data, bits)
		for i := range blockValues / 2 {
			data = append(data, nibble(values[i])|nibble(values[i+blockValues/2])<<4)
		}
	}
	return data
}

func appendFloats(data []byte, values ...float32) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}
