package encoder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/seed-d8745b77/rag/internal/strict"
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
// rows·cols int8 values; the weight is scale·value. One of type "i4" is blocks of 32 weights of a row, one after the
// other: a float16 scale, then 16 bytes, of which byte i holds weight i in its low and weight 16+i in its high four
// bits; the weight is scale·(value-8). Names are those of the model's safetensors file, without a prefix.
const (
	magic         = "ragmodel"
	formatVersion = 1
	prefixSize    = len(magic) + 8
	digestSize    = sha256.Size
)

// Form is how the values of a tensor are kept.
type Form string

// Forms of tensors. A weights file has the first three; the others are those of safetensors.
const (
	Float32  Form = "f32"
	Int8     Form = "i8" // a scale for each row
	Int4     Form = "i4" // a scale for each block of 32 values; rows are multiples of that
	float16  Form = "f16"
	bfloat16 Form = "bf16"
)

// Sizes of a block of an Int4 tensor.
const (
	blockValues = 32
	blockBytes  = 2 + blockValues/2
)

// header is the JSON part of a weights file.
type header struct {
	Config  Config        `json:"config"`
	Tensors []tensorEntry `json:"tensors"`
}

type tensorEntry struct {
	Name   string `json:"name"`
	Type   Form   `json:"type"`
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
	case Float32:
		return 4 * t.Rows * t.Cols, nil
	case float16, bfloat16:
		return 2 * t.Rows * t.Cols, nil
	case Int8:
		return 4*t.Rows + t.Rows*t.Cols, nil
	case Int4:
		if t.Cols%blockValues == 0 {
			return t.Rows * t.Cols / blockValues * blockBytes, nil
		}
	}
	return 0, fmt.Errorf("tensor %s with %d values in a row of unknown type %q: %w", t.Name, t.Cols, t.Type, ErrFormat)
}

// Revision returns the digest that a weights file ends with, in hex: it names the weights without reading them.
// [Load] checks that it is true.
func Revision(file []byte) (string, error) {
	if len(file) < prefixSize+digestSize || string(file[:len(magic)]) != magic {
		return "", fmt.Errorf("%d bytes that do not begin with %q: %w", len(file), magic, ErrFormat)
	}
	return hex.EncodeToString(file[len(file)-digestSize:]), nil
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
	if err := strict.Unmarshal(body[prefixSize:prefixSize+n], &h); err != nil {
		return nil, fmt.Errorf("header: %v: %w", err, ErrFormat)
	}
	if err := h.Config.validate(); err != nil {
		return nil, err
	}
	w := &weights{config: h.Config, tensors: make(map[string]tensorEntry, len(h.Tensors)), data: body[prefixSize+n:]}
	w.size = len(w.data)
	for _, t := range h.Tensors {
		if err := w.add(t); err != nil {
			return nil, err
		}
	}
	return w, nil
}
