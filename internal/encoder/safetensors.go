package encoder

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// Tensor is a weight of one or two dimensions.
type Tensor struct {
	Name       string
	Rows, Cols int       // a tensor of one dimension has one row
	Values     []float32 // row by row
}

// ReadSafetensors returns the float32 tensors of one or two dimensions of a safetensors file, by name. Other tensors,
// such as lists of positions, are left out.
func ReadSafetensors(file []byte) ([]Tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("safetensors of %d bytes: %w", len(file), ErrFormat)
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("safetensors header of %d bytes in a file of %d: %w", n, len(file), ErrFormat)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &entries); err != nil {
		return nil, fmt.Errorf("safetensors header: %v: %w", err, ErrFormat)
	}
	delete(entries, "__metadata__")
	var tensors []Tensor
	for name, raw := range entries {
		t, ok, err := readSafetensor(name, raw, file[8+n:])
		if err != nil {
			return nil, err
		}
		if ok {
			tensors = append(tensors, t)
		}
	}
	sort.Slice(tensors, func(i, j int) bool { return tensors[i].Name < tensors[j].Name })
	return tensors, nil
}

func readSafetensor(name string, entry json.RawMessage, data []byte) (t Tensor, ok bool, err error) {
	var e struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(entry, &e); err != nil {
		return t, false, fmt.Errorf("tensor %s: %v: %w", name, err, ErrFormat)
	}
	if e.Type != "F32" || len(e.Shape) < 1 || len(e.Shape) > 2 {
		return t, false, nil
	}
	t = Tensor{Name: name, Rows: 1, Cols: e.Shape[len(e.Shape)-1]}
	if len(e.Shape) == 2 {
		t.Rows = e.Shape[0]
	}
	sized := tensorEntry{Name: name, Type: typeFloat32, Rows: t.Rows, Cols: t.Cols}
	size, err := sized.size()
	if err != nil {
		return t, false, err
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to > len(data) || to < from || to-from != size {
		return t, false, fmt.Errorf("tensor %s at bytes %d to %d: want %d bytes in %d: %w", name, from, to, size, len(data), ErrFormat)
	}
	t.Values = make([]float32, 0, t.Rows*t.Cols)
	for raw := data[from:to]; len(raw) > 0; raw = raw[4:] {
		t.Values = append(t.Values, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return t, true, nil
}
