// Package onnxtest writes ONNX files of BERT models, for tests that compare engines: the same weights in another form.
//
//	onnxtest.Write(t, "models/all-minilm-l6-v2", t.TempDir(), onnxtest.Options{})
package onnxtest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag/internal/encoder"
)

// Options change the file from what a good exporter writes.
type Options struct {
	BatchAxis    string // name of the first axis of the inputs; "": batch
	SequenceAxis string // of the second; "": sequence
	Input        string // one more input, which nothing reads
	Op           string // an operation put behind the embeddings, with one input and one output
	Labels       int    // of a cross-encoder; 0: 1. Two: the negative logit, then the logit
}

// Output names what the graph returns: a vector for each token, or the logits.
const (
	OutputTokens = "last_hidden_state"
	OutputLogits = "logits"
)

// Write reads config.json, model.safetensors and tokenizer.json of a BERT model in the folder from, and writes
// config.json, model.onnx, tokenizer.json and special_tokens_map.json into the folder to. A tokenizer's truncation and
// padding are left out.
func Write(t testing.TB, from, to string, o Options) {
	t.Helper()
	config, err := encoder.ReadConfig(from, encoder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := encoder.ReadSafetensors(read(t, filepath.Join(from, "model.safetensors")))
	if err != nil {
		t.Fatal(err)
	}
	weights := make(map[string]encoder.Tensor, len(tensors))
	for _, w := range tensors {
		weights[w.Name] = w
	}
	g := &graph{t: t, weights: weights, config: config, options: o, written: map[string]bool{}}
	write(t, filepath.Join(to, "model.onnx"), g.model())
	write(t, filepath.Join(to, "config.json"), read(t, filepath.Join(from, "config.json")))
	write(t, filepath.Join(to, "special_tokens_map.json"), []byte(`{"sep_token": "[SEP]"}`))

	var tokenizer map[string]json.RawMessage
	if err := json.Unmarshal(read(t, filepath.Join(from, "tokenizer.json")), &tokenizer); err != nil {
		t.Fatal(err)
	}
	delete(tokenizer, "truncation")
	delete(tokenizer, "padding")
	plain, err := json.Marshal(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(to, "tokenizer.json"), plain)
}

// graph collects the nodes and constants of a model.
type graph struct {
	t       testing.TB
	weights map[string]encoder.Tensor
	config  encoder.Config
	options Options

	nodes, constants message
	written          map[string]bool // constants
	count            int
}

// model returns the file.
func (g *graph) model() []byte {
	batch, sequence := g.options.BatchAxis, g.options.SequenceAxis
	if batch == "" {
		batch = "batch"
	}
	if sequence == "" {
		sequence = "sequence"
	}
	g.floats("one", 1)
	x, mask := g.embeddings(), g.mask()
	for i := range g.config.Layers {
		x = g.layer(fmt.Sprintf("encoder.layer.%d.", i), x, mask)
	}
	var body message
	body.text(graphName, "encoder")
	if g.config.Logits > 0 {
		labels := max(1, g.options.Labels)
		g.node("Identity", []string{g.head(x, labels)}, OutputLogits)
		body.bytes(graphOut, value(OutputLogits, elemFloat, batch, labels))
	} else {
		g.node("Identity", []string{x}, OutputTokens)
		body.bytes(graphOut, value(OutputTokens, elemFloat, batch, sequence, g.config.Hidden))
	}
	inputs := []string{"input_ids", "attention_mask", "token_type_ids"}
	if g.options.Input != "" {
		inputs = append(inputs, g.options.Input)
	}
	for _, name := range inputs {
		body.bytes(graphIn, value(name, elemInt64, batch, sequence))
	}
	body = append(append(body, g.nodes...), g.constants...)

	var operations, file message
	operations.number(opsetVersion, opset)
	file.number(modelIRVersion, irVersion)
	file.bytes(modelGraph, body)
	file.bytes(modelOpset, operations)
	return file
}

// embeddings adds up what a token, its place and its segment contribute.
func (g *graph) embeddings() string {
	first := int64(g.config.FirstPosition)
	length := g.op("Slice", []string{g.op("Shape", []string{"input_ids"}), g.ints("from1", []int64{1}, 1), g.ints("to2", []int64{2}, 1), g.ints("axis0", []int64{0}, 1)})
	start := g.ints("first", []int64{first}, 1)
	end := g.op("Add", []string{length, start})
	words := g.op("Gather", []string{g.matrix("embeddings.word_embeddings.weight", false), "input_ids"}, attribute{name: "axis"})
	types := g.op("Gather", []string{g.matrix("embeddings.token_type_embeddings.weight", false), "token_type_ids"}, attribute{name: "axis"})
	places := g.op("Slice", []string{g.matrix("embeddings.position_embeddings.weight", false), start, end, "axis0"})
	x := g.norm("embeddings.LayerNorm", g.op("Add", []string{g.op("Add", []string{words, types}), places}))
	if g.options.Op != "" {
		x = g.op(g.options.Op, []string{x})
	}
	return x
}

// mask is 0 for a token and far below that for padding, [batch, 1, 1, sequence].
func (g *graph) mask() string {
	const far = -10000 // what BERT's exporters write
	present := g.op("Cast", []string{"attention_mask"}, attribute{name: "to", int: elemFloat})
	present = g.op("Unsqueeze", []string{present, g.ints("axes12", []int64{1, 2}, 2)})
	return g.op("Mul", []string{g.op("Sub", []string{"one", present}), g.floats("far", far)})
}

// layer is one layer of the transformer.
func (g *graph) layer(name, x, mask string) string {
	heads, size := int64(g.config.Heads), int64(g.config.Hidden/g.config.Heads)
	split := g.ints(name+"split", []int64{0, 0, heads, size}, 4)
	join := g.ints(name+"join", []int64{0, 0, heads * size}, 3)
	part := func(of string, order ...int64) string {
		y := g.op("Reshape", []string{g.linear(name+"attention.self."+of, x), split})
		return g.op("Transpose", []string{y}, attribute{name: "perm", ints: order})
	}
	scores := g.op("MatMul", []string{part("query", 0, 2, 1, 3), part("key", 0, 2, 3, 1)})
	scores = g.op("Div", []string{scores, g.floats(name+"scale", math.Sqrt(float64(size)))})
	weights := g.op("Softmax", []string{g.op("Add", []string{scores, mask})}, attribute{name: "axis", int: -1})
	mixed := g.op("MatMul", []string{weights, part("value", 0, 2, 1, 3)})
	mixed = g.op("Reshape", []string{g.op("Transpose", []string{mixed}, attribute{name: "perm", ints: []int64{0, 2, 1, 3}}), join})
	x = g.norm(name+"attention.output.LayerNorm", g.op("Add", []string{x, g.linear(name+"attention.output.dense", mixed)}))
	inner := g.gelu(g.linear(name+"intermediate.dense", x))
	return g.norm(name+"output.LayerNorm", g.op("Add", []string{x, g.linear(name+"output.dense", inner)}))
}

// gelu is x/2·(1 + erf(x/√2)).
func (g *graph) gelu(x string) string {
	erf := g.op("Erf", []string{g.op("Div", []string{x, g.floats("root2", math.Sqrt2)})})
	return g.op("Mul", []string{g.op("Mul", []string{x, g.floats("half", 0.5)}), g.op("Add", []string{erf, "one"})})
}

// head is the logits of a cross-encoder.
func (g *graph) head(x string, labels int) string {
	first := g.op("Gather", []string{x, g.ints("zero", []int64{0})}, attribute{name: "axis", int: 1})
	pooled := g.op("Tanh", []string{g.linear("pooler.dense", first)})
	logit := g.linear("classifier", pooled)
	if labels == 1 {
		return logit
	}
	return g.op("Concat", []string{g.op("Neg", []string{logit}), logit}, attribute{name: "axis", int: 1})
}

// linear is x·Wᵀ + b.
func (g *graph) linear(name, x string) string {
	return g.op("Add", []string{g.op("MatMul", []string{x, g.matrix(name+".weight", true)}), g.vector(name + ".bias")})
}

// norm is a layer norm, spelt out: the operation of that name is younger than the set used here.
func (g *graph) norm(name, x string) string {
	last := []attribute{{name: "axes", ints: []int64{-1}}, {name: "keepdims", int: 1}}
	d := g.op("Sub", []string{x, g.op("ReduceMean", []string{x}, last...)})
	variance := g.op("ReduceMean", []string{g.op("Mul", []string{d, d})}, last...)
	deviation := g.op("Sqrt", []string{g.op("Add", []string{variance, g.floats("epsilon", g.config.Epsilon)})})
	scaled := g.op("Mul", []string{g.op("Div", []string{d, deviation}), g.vector(name + ".weight")})
	return g.op("Add", []string{scaled, g.vector(name + ".bias")})
}

// op adds a node and returns the name of its output.
func (g *graph) op(op string, inputs []string, attributes ...attribute) string {
	g.count++
	out := fmt.Sprintf("%s_%d", op, g.count)
	g.node(op, inputs, out, attributes...)
	return out
}

func (g *graph) node(op string, inputs []string, out string, attributes ...attribute) {
	var n message
	for _, in := range inputs {
		n.text(nodeIn, in)
	}
	n.text(nodeOut, out)
	n.text(nodeName, "node_"+out)
	n.text(nodeOp, op)
	for _, a := range attributes {
		n.bytes(nodeAttribute, a.encode())
	}
	g.nodes.bytes(graphNode, n)
}

// floats adds a scalar.
func (g *graph) floats(name string, v float64) string {
	return g.constant(name, floatTensor(name, []float32{float32(v)}))
}

// ints adds integers.
func (g *graph) ints(name string, values []int64, dims ...int) string {
	return g.constant(name, intTensor(name, values, dims...))
}

// constant adds a constant; one that is asked for again is there already.
func (g *graph) constant(name string, tensor []byte) string {
	if !g.written[name] {
		g.written[name] = true
		g.constants.bytes(graphInitializer, tensor)
	}
	return name
}

// matrix adds a weight, turned round if asked: safetensors hold a row for each output, MatMul wants a column.
func (g *graph) matrix(name string, turned bool) string {
	w := g.weight(name)
	if !turned {
		return g.constant(name, floatTensor(name, w.Values, w.Rows, w.Cols))
	}
	values := make([]float32, len(w.Values))
	for r := range w.Rows {
		for c := range w.Cols {
			values[c*w.Rows+r] = w.Values[r*w.Cols+c]
		}
	}
	return g.constant(name, floatTensor(name, values, w.Cols, w.Rows))
}

// vector adds a weight of one dimension.
func (g *graph) vector(name string) string {
	w := g.weight(name)
	return g.constant(name, floatTensor(name, w.Values, len(w.Values)))
}

func (g *graph) weight(name string) encoder.Tensor {
	w, ok := g.weights[name]
	if !ok {
		g.t.Fatalf("the model has no weight %s", name)
	}
	return w
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
