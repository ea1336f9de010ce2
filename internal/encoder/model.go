// Package encoder computes with encoder models of the BERT family, in Go alone: vectors of texts, and scores of pairs.
//
//	model, err := encoder.LoadDir(dir, encoder.Options{})
//	vectors, err := encoder.NewRunner(model, 2).Embed(ctx, [][]int32{ids})
//
// A vector or score depends on its own tokens only, never on the batch, and on one kind of processor it is the same to
// the bit.
package encoder

import (
	"fmt"
	"math"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// Model is a loaded model. It is immutable and safe for concurrent use.
type Model struct {
	config    Config
	kernels   simd.Kernels
	file      *mapping  // that words read from; nil if they read from memory of the caller
	words     *table    // stays as it is in the file: a row is unpacked when its token is met
	positions []float32 // [Positions][Hidden]
	types     []float32 // [Types][Hidden]
	norm      norm      // of the sum of the three
	layers    []layer
	head      *head // of a cross-encoder
}

// layer is one block: attention, then the feed-forward net, each added to its input and normalized.
type layer struct {
	attend     linear // queries, keys and values side by side: [3·Hidden] from [Hidden]
	attendOut  linear
	attendNorm norm
	widen      linear // [FeedForward] from [Hidden]
	narrow     linear // [Hidden] from [FeedForward]
	norm       norm
}

// Load reads a weights file (see [Write]) and unpacks it for the kernels of this processor. The model reads from file
// as long as it lives. Errors wrap [ErrFormat].
func Load(file []byte) (*Model, error) { return load(file, simd.Fastest()) }

func load(file []byte, k simd.Kernels) (*Model, error) {
	w, err := openWeights(file)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	m, err := newModel(w, k)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	return m, nil
}

func newModel(w *weights, k simd.Kernels) (*Model, error) {
	m := &Model{config: w.config, kernels: k, file: w.file}
	if err := m.loadEmbeddings(w); err != nil {
		return nil, err
	}
	for i := range m.config.Layers {
		l, err := loadLayer(w, &m.kernels, fmt.Sprintf("encoder.layer.%d.", i))
		if err != nil {
			return nil, err
		}
		m.layers = append(m.layers, l)
		if w.file != nil {
			w.file.forget() // it is packed now, and would be kept twice
		}
	}
	if m.config.Logits > 0 {
		var err error
		if m.head, err = loadHead(w); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Config returns the model's shape.
func (m *Model) Config() Config { return m.config }

// Kernel names the inner loops in use: "avx512-vnni", "avx512", "avx2", "neon" or "go".
func (m *Model) Kernel() string { return m.kernels.Name }

func (m *Model) loadEmbeddings(w *weights) (err error) {
	c := m.config
	if m.words, err = w.table("embeddings.word_embeddings.weight", c.Vocabulary, c.Hidden); err != nil {
		return err
	}
	positions, err := w.rows("embeddings.position_embeddings.weight", c.FirstPosition+c.Positions, c.Hidden)
	if err != nil {
		return err
	}
	m.positions = positions[c.FirstPosition*c.Hidden:]
	if m.types, err = w.rows("embeddings.token_type_embeddings.weight", c.Types, c.Hidden); err != nil {
		return err
	}
	m.norm, err = loadNorm(w, "embeddings.LayerNorm")
	return err
}

func loadLayer(w *weights, k *simd.Kernels, prefix string) (l layer, err error) {
	c := w.config
	attention := []part{
		{name: prefix + "attention.self.query", scale: 1 / math.Sqrt(float64(c.Hidden/c.Heads))}, // softmax(q·k/√size)
		{name: prefix + "attention.self.key", scale: 1},
		{name: prefix + "attention.self.value", scale: 1},
	}
	if l.attend, err = loadLinear(w, k, c.Hidden, c.Hidden, attention...); err != nil {
		return l, err
	}
	for _, x := range []struct {
		to              *linear
		name            string
		outputs, inputs int
	}{
		{&l.attendOut, "attention.output.dense", c.Hidden, c.Hidden},
		{&l.widen, "intermediate.dense", c.FeedForward, c.Hidden},
		{&l.narrow, "output.dense", c.Hidden, c.FeedForward},
	} {
		if *x.to, err = loadLinear(w, k, x.outputs, x.inputs, part{name: prefix + x.name, scale: 1}); err != nil {
			return l, err
		}
	}
	if l.attendNorm, err = loadNorm(w, prefix+"attention.output.LayerNorm"); err != nil {
		return l, err
	}
	l.norm, err = loadNorm(w, prefix+"output.LayerNorm")
	return l, err
}

func loadNorm(w *weights, name string) (n norm, err error) {
	n.epsilon = w.config.Epsilon
	if n.gain, err = w.vector(name+".weight", w.config.Hidden); err != nil {
		return n, err
	}
	n.bias, err = w.vector(name+".bias", w.config.Hidden)
	return n, err
}
