package encoder

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// Tensor is a weight of one or two dimensions.
type Tensor struct {
	Name       string
	Rows, Cols int       // a tensor of one dimension has one row
	Values     []float32 // row by row
}

// wordTable ends the name of the table of words in every model; what stands before it is the model's prefix.
const wordTable = "embeddings.word_embeddings.weight"

// openSafetensors finds the tensors of a model in a safetensors file: those of one or two dimensions that hold
// floats of 32 or 16 bits. Others, such as lists of positions, are left out.
func openSafetensors(file []byte, config Config) (*weights, error) {
	n, err := headerLength(file, int64(len(file)))
	if err != nil {
		return nil, err
	}
	header, data := file[lengthBytes:lengthBytes+n], file[lengthBytes+n:]
	w, err := parseSafetensors(header, len(data), config)
	if err != nil {
		return nil, err
	}
	w.data = data
	return w, nil
}

// parseSafetensors finds the tensors in the header of a safetensors file that has so many bytes of data behind it.
func parseSafetensors(header []byte, size int, config Config) (*weights, error) {
	var entries map[string]json.RawMessage
	if err := strict.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("safetensors header: %v: %w", err, ErrFormat)
	}
	delete(entries, "__metadata__")
	w := &weights{config: config, tensors: make(map[string]tensorEntry, len(entries)), size: size}
	var prefixes []string
	for name, raw := range entries {
		if err := w.addSafetensor(name, raw); err != nil {
			return nil, err
		}
		if prefix, ok := strings.CutSuffix(name, wordTable); ok {
			prefixes = append(prefixes, prefix)
		}
	}
	if len(prefixes) > 1 {
		return nil, fmt.Errorf("safetensors of %d models, with the prefixes %q: %w", len(prefixes), prefixes, ErrUnsupported)
	}
	w.prefix = strings.Join(prefixes, "")
	return w, nil
}

func (w *weights) addSafetensor(name string, raw json.RawMessage) error {
	var e struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	if err := strict.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("tensor %s: %v: %w", name, err, ErrFormat)
	}
	form, ok := map[string]Form{"F32": Float32, "F16": float16, "BF16": bfloat16}[e.Type]
	if !ok || len(e.Shape) < 1 || len(e.Shape) > 2 {
		return nil
	}
	t := tensorEntry{Name: name, Type: form, Rows: 1, Cols: e.Shape[len(e.Shape)-1], Offset: e.Offsets[0]}
	if len(e.Shape) == 2 {
		t.Rows = e.Shape[0]
	}
	size, err := t.size()
	if err != nil {
		return err
	}
	if from, to := e.Offsets[0], e.Offsets[1]; from < 0 || to < from || to-from != size {
		return fmt.Errorf("tensor %s at bytes %d to %d: want %d bytes: %w", name, from, to, size, ErrFormat)
	}
	return w.add(t)
}

// ReadSafetensors returns the float tensors of one or two dimensions of a safetensors file, by name without the
// model's prefix. Other tensors, such as lists of positions, are left out.
func ReadSafetensors(file []byte) ([]Tensor, error) {
	w, err := openSafetensors(file, Config{})
	if err != nil {
		return nil, err
	}
	var tensors []Tensor
	for name, entry := range w.tensors {
		t := Tensor{Name: strings.TrimPrefix(name, w.prefix), Rows: entry.Rows, Cols: entry.Cols}
		table, err := w.table(name, t.Rows, t.Cols)
		if err != nil {
			return nil, err
		}
		t.Values = make([]float32, t.Rows*t.Cols)
		for r := range t.Rows {
			table.row(r, t.Values[r*t.Cols:(r+1)*t.Cols])
		}
		tensors = append(tensors, t)
	}
	sort.Slice(tensors, func(i, j int) bool { return tensors[i].Name < tensors[j].Name })
	return tensors, nil
}
