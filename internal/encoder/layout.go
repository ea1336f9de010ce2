package encoder

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CheckDir reads what [ReadConfig] reads, and of model.safetensors the header: a file that is cut off, and one in which
// a tensor of the model is absent or has another shape, is the error that [LoadDir] would give for it, found without
// reading the weights.
func CheckDir(dir string, o Options) (Config, error) {
	config, err := ReadConfig(dir, o)
	if err != nil {
		return Config{}, err
	}
	name := filepath.Join(dir, safetensorsFile)
	w, err := openHeader(name, config)
	if err == nil {
		err = w.complete()
	}
	if err != nil {
		return Config{}, fmt.Errorf("read weights %s: %w", name, err)
	}
	return config, nil
}

// openHeader finds the tensors of a safetensors file without reading them.
func openHeader(name string, config Config) (*weights, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(int64(lengthBytes), info.Size()))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, err
	}
	n, err := headerLength(head, info.Size())
	if err != nil {
		return nil, err
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(f, header); err != nil {
		return nil, err
	}
	return parseSafetensors(header, int(info.Size())-lengthBytes-n, config)
}

// lengthBytes is the size of the number before a safetensors header.
const lengthBytes = 8

// headerLength returns the length of the header of a safetensors file of so many bytes.
func headerLength(head []byte, size int64) (int, error) {
	if len(head) < lengthBytes {
		return 0, fmt.Errorf("safetensors of %d bytes: %w", size, ErrFormat)
	}
	n := binary.LittleEndian.Uint64(head)
	if n > uint64(size-lengthBytes) {
		return 0, fmt.Errorf("safetensors header of %d bytes in a file of %d: %w", n, size, ErrFormat)
	}
	return int(n), nil
}

// complete reports the first tensor of the model that is absent or has another shape.
func (w *weights) complete() error {
	for _, t := range w.config.layout() {
		if _, err := w.entry(t.Name, t.Rows, t.Cols); err != nil {
			return err
		}
	}
	return nil
}

// layout lists the tensors of a model of this shape, without their values.
func (c Config) layout() []Tensor {
	var all []Tensor
	add := func(name string, rows, cols int) { all = append(all, Tensor{Name: name, Rows: rows, Cols: cols}) }
	norm := func(name string) {
		add(name+".weight", 1, c.Hidden)
		add(name+".bias", 1, c.Hidden)
	}
	dense := func(name string, outputs, inputs int) {
		add(name+".weight", outputs, inputs)
		add(name+".bias", 1, outputs)
	}
	add("embeddings.word_embeddings.weight", c.Vocabulary, c.Hidden)
	add("embeddings.position_embeddings.weight", c.FirstPosition+c.Positions, c.Hidden)
	add("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	norm("embeddings.LayerNorm")
	for i := range c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			dense(p+"attention.self."+part, c.Hidden, c.Hidden)
		}
		dense(p+"attention.output.dense", c.Hidden, c.Hidden)
		norm(p + "attention.output.LayerNorm")
		dense(p+"intermediate.dense", c.FeedForward, c.Hidden)
		dense(p+"output.dense", c.Hidden, c.FeedForward)
		norm(p + "output.LayerNorm")
	}
	if c.Logits > 0 {
		first, last := c.headNames()
		dense(first, c.Hidden, c.Hidden)
		dense(last, 1, c.Hidden)
	}
	return all
}
