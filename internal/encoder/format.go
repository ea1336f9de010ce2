package encoder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A weights file holds a model as it is shipped. All numbers are little endian:
//
//	offset  bytes
//	0       8      "ragmodel"
//	8       1      version of the format: 1
//	9       3      zero
//	12      4      length n of the header
//	16      n      header: JSON {"config": Config, "tensors": [{"name", "type", "rows", "cols", "offset"}, …]}
//	16+n           tensors, each at its offset counted from here, in order and without gaps
//	end-32  32     SHA-256 of everything before
//
// A tensor of type "f32" is rows·cols float32 values. One of type "i8" is a float32 scale for each row, then
// rows·cols int8 values; the weight is scale·value. Names are those of the model's safetensors file.
const (
	magic         = "ragmodel"
	formatVersion = 1
	prefixSize    = len(magic) + 8
	digestSize    = sha256.Size
)

// ErrFormat is the kind of all errors about a weights file that cannot be used.
var ErrFormat = errors.New("not a usable weights file")

// Tensor types.
const (
	typeFloat32 = "f32"
	typeInt8    = "i8"
)

// header is the JSON part of a weights file.
type header struct {
	Config  Config        `json:"config"`
	Tensors []tensorEntry `json:"tensors"`
}

type tensorEntry struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Rows   int    `json:"rows"`
	Cols   int    `json:"cols"`
	Offset int    `json:"offset"`
}

// maxSide bounds rows and columns, so that sizes computed from a damaged header do not overflow.
const maxSide = 1 << 24

func (t *tensorEntry) size() (int, error) {
	if t.Rows < 1 || t.Cols < 1 || t.Rows > maxSide || t.Cols > maxSide {
		return 0, fmt.Errorf("tensor %s of %d x %d: %w", t.Name, t.Rows, t.Cols, ErrFormat)
	}
	switch t.Type {
	case typeFloat32:
		return 4 * t.Rows * t.Cols, nil
	case typeInt8:
		return 4*t.Rows + t.Rows*t.Cols, nil
	}
	return 0, fmt.Errorf("tensor %s of unknown type %q: %w", t.Name, t.Type, ErrFormat)
}

// Revision returns the digest that a weights file ends with, in hex: it names the weights without reading them.
// [Load] checks that it is true.
func Revision(file []byte) (string, error) {
	if len(file) < prefixSize+digestSize || string(file[:len(magic)]) != magic {
		return "", fmt.Errorf("%d bytes that do not begin with %q: %w", len(file), magic, ErrFormat)
	}
	return hex.EncodeToString(file[len(file)-digestSize:]), nil
}

// weights is an opened weights file; it reads from the file's bytes.
type weights struct {
	config  Config
	tensors map[string]tensorEntry
	data    []byte
}

// openWeights checks the file's frame and digest and finds its tensors.
func openWeights(file []byte) (*weights, error) {
	if _, err := Revision(file); err != nil {
		return nil, err
	}
	if v := file[len(magic)]; v != formatVersion {
		return nil, fmt.Errorf("format version %d, this program reads %d: %w", v, formatVersion, ErrFormat)
	}
	body := file[:len(file)-digestSize]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, fmt.Errorf("its digest is wrong, the file is damaged: %w", ErrFormat)
	}
	n := int(binary.LittleEndian.Uint32(file[prefixSize-4:]))
	if n > len(body)-prefixSize {
		return nil, fmt.Errorf("header of %d bytes in a file of %d: %w", n, len(file), ErrFormat)
	}
	var h header
	if err := json.Unmarshal(body[prefixSize:prefixSize+n], &h); err != nil {
		return nil, fmt.Errorf("header: %v: %w", err, ErrFormat)
	}
	if err := h.Config.validate(); err != nil {
		return nil, err
	}
	w := &weights{config: h.Config, tensors: make(map[string]tensorEntry, len(h.Tensors)), data: body[prefixSize+n:]}
	for _, t := range h.Tensors {
		size, err := t.size()
		if err != nil {
			return nil, err
		}
		if t.Offset < 0 || t.Offset > len(w.data) || size > len(w.data)-t.Offset {
			return nil, fmt.Errorf("tensor %s lies outside the file: %w", t.Name, ErrFormat)
		}
		w.tensors[t.Name] = t
	}
	return w, nil
}

// table is a tensor in the file: rows of floats, or of scaled int8 values.
type table struct {
	rows, cols int
	floats     []byte // float32 values; nil if quantised
	scales     []byte // a float32 per row
	values     []byte // int8
}

// table returns the tensor of this name, which must have this shape.
func (w *weights) table(name string, rows, cols int) (*table, error) {
	t, ok := w.tensors[name]
	if !ok || t.Rows != rows || t.Cols != cols {
		return nil, fmt.Errorf("tensor %s: want %d x %d, have %d x %d: %w", name, rows, cols, t.Rows, t.Cols, ErrFormat)
	}
	data := w.data[t.Offset:]
	if t.Type == typeFloat32 {
		return &table{rows: rows, cols: cols, floats: data[:4*rows*cols]}, nil
	}
	return &table{rows: rows, cols: cols, scales: data[:4*rows], values: data[4*rows : 4*rows+rows*cols]}, nil
}

// row writes the weights of one row to dst, which is as long as a row.
func (t *table) row(r int, dst []float32) {
	if t.floats != nil {
		raw := t.floats[4*r*t.cols:]
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(t.scales[4*r:]))
	for i, v := range t.values[r*t.cols : (r+1)*t.cols] {
		dst[i] = scale * float32(int8(v))
	}
}

// vector returns a tensor of one row.
func (w *weights) vector(name string, n int) ([]float32, error) {
	t, err := w.table(name, 1, n)
	if err != nil {
		return nil, err
	}
	v := make([]float32, n)
	t.row(0, v)
	return v, nil
}
