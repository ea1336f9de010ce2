package encoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Write writes a weights file of the tensors, in their order. Those whose names quantised accepts become int8, row by
// row; the others stay as they are. The same input gives the same bytes.
func Write(w io.Writer, config Config, tensors []Tensor, quantised func(name string) bool) error {
	if err := config.validate(); err != nil {
		return err
	}
	h := header{Config: config}
	var data []byte
	for _, t := range tensors {
		if len(t.Values) != t.Rows*t.Cols {
			return fmt.Errorf("tensor %s: %d values for %d x %d", t.Name, len(t.Values), t.Rows, t.Cols)
		}
		entry := tensorEntry{Name: t.Name, Type: typeFloat32, Rows: t.Rows, Cols: t.Cols, Offset: len(data)}
		if quantised(t.Name) {
			entry.Type = typeInt8
			data = appendInt8(data, t)
		} else {
			data = appendFloats(data, t.Values...)
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

func appendFloats(data []byte, values ...float32) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}
