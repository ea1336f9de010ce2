// Package encoder computes sentence vectors with encoder models of the BERT family, in Go alone.
//
//	model, err := encoder.Load(file)
//	vectors, err := encoder.NewRunner(model, 2).Embed(ctx, [][]int32{ids})
//
// Weights are quantised, activations are not: a vector depends on its own tokens only, never on the batch, and on one
// kind of processor it is the same to the bit.
package encoder

import (
	"fmt"
	"math"
)

// Model is a loaded model. It is immutable and safe for concurrent use.
type Model struct {
	config    Config
	kernels   kernels
	words     *table    // stays quantised: a row is unpacked when its token is met
	positions []float32 // [Positions][Hidden], with the vector of the first segment type added
	norm      norm      // of the sum of both
	layers    []layer
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

// linear is y = W·x + bias.
type linear struct {
	matrix
	bias []float32
}

// Load reads a weights file (see Write) and unpacks it for the kernels of this processor. The model reads from file
// as long as it lives. Errors wrap [ErrFormat].
func Load(file []byte) (*Model, error) { return load(file, fastest()) }

func load(file []byte, k kernels) (*Model, error) {
	w, err := openWeights(file)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	m := &Model{config: w.config, kernels: k}
	if err := m.loadEmbeddings(w); err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	for i := range m.config.Layers {
		l, err := loadLayer(w, fmt.Sprintf("encoder.layer.%d.", i))
		if err != nil {
			return nil, fmt.Errorf("read weights: %w", err)
		}
		m.layers = append(m.layers, l)
	}
	return m, nil
}

// Config returns the model's shape.
func (m *Model) Config() Config { return m.config }

// Kernel names the inner loops in use: "avx2" or "go".
func (m *Model) Kernel() string { return m.kernels.name }

func (m *Model) loadEmbeddings(w *weights) (err error) {
	c := m.config
	if m.words, err = w.table("embeddings.word_embeddings.weight", c.Vocabulary, c.Hidden); err != nil {
		return err
	}
	positions, err := w.table("embeddings.position_embeddings.weight", c.Positions, c.Hidden)
	if err != nil {
		return err
	}
	types, err := w.table("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	if err != nil {
		return err
	}
	first := make([]float32, c.Hidden)
	types.row(0, first)
	m.positions = make([]float32, c.Positions*c.Hidden)
	for i := range c.Positions {
		row := m.positions[i*c.Hidden : (i+1)*c.Hidden]
		positions.row(i, row)
		for j, v := range first {
			row[j] += v
		}
	}
	m.norm, err = loadNorm(w, "embeddings.LayerNorm")
	return err
}

func loadLayer(w *weights, prefix string) (l layer, err error) {
	c := w.config
	l.attend.matrix = newMatrix(3*c.Hidden, c.Hidden)
	for i, part := range []string{"query", "key", "value"} {
		scale := float32(1)
		if part == "query" { // the attention divides q·k by √(Hidden/Heads)
			scale = float32(1 / math.Sqrt(float64(c.Hidden/c.Heads)))
		}
		if err := l.attend.load(w, prefix+"attention.self."+part, i*c.Hidden, c.Hidden, scale); err != nil {
			return l, err
		}
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
		x.to.matrix = newMatrix(x.outputs, x.inputs)
		if err := x.to.load(w, prefix+x.name, 0, x.outputs, 1); err != nil {
			return l, err
		}
	}
	if l.attendNorm, err = loadNorm(w, prefix+"attention.output.LayerNorm"); err != nil {
		return l, err
	}
	l.norm, err = loadNorm(w, prefix+"output.LayerNorm")
	return l, err
}

// load fills outputs of the layer, from the first one on, with a weight and its bias, both scaled.
func (l *linear) load(w *weights, name string, first, outputs int, scale float32) error {
	weight, err := w.table(name+".weight", outputs, l.inputs)
	if err != nil {
		return err
	}
	bias, err := w.vector(name+".bias", outputs)
	if err != nil {
		return err
	}
	row := make([]float32, l.inputs)
	for i := range outputs {
		weight.row(i, row)
		if scale != 1 {
			for j := range row {
				row[j] *= scale
			}
		}
		l.setRow(first+i, row)
		l.bias = append(l.bias, bias[i]*scale)
	}
	return nil
}

func loadNorm(w *weights, name string) (n norm, err error) {
	n.epsilon = w.config.Epsilon
	if n.gain, err = w.vector(name+".weight", w.config.Hidden); err != nil {
		return n, err
	}
	n.bias, err = w.vector(name+".bias", w.config.Hidden)
	return n, err
}
