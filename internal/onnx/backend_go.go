//go:build !ORT && !ALL

package onnx

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
)

// runtimeName is hugot's name of its backend in pure Go.
const runtimeName = "GO"

// The backend compiles a graph for each shape and keeps it, half a second and some megabytes apiece: so there are few
// shapes. Two sizes of batch, since a batch is worth little here, and lengths that double from shortest.
const (
	fullBatch = 8
	shortest  = 32 // tokens: a question
)

// batchSize returns how many of this many sequences to run together.
func batchSize(alike int) int {
	if alike >= fullBatch {
		return fullBatch
	}
	return 1
}

// paddedLength returns the length that a sequence of n tokens is padded to.
func paddedLength(n, window int) int {
	length := shortest
	for length < n {
		length *= 2
	}
	return min(length, window)
}

// integerOps are operations on integers in which the backend panics, in a goroutine where nobody can recover.
var integerOps = map[string]bool{
	"DynamicQuantizeLinear": true, "MatMulInteger": true, "ConvInteger": true, "QLinearMatMul": true, "QLinearConv": true,
	"DynamicQuantizeMatMul": true, "QAttention": true, "QGemm": true,
}

// newBackend makes the model of a graph.
func newBackend(c Config, window int, graph []byte) (model *backends.Model, err error) {
	if c.Library != "" || c.Threads != 0 {
		return nil, errors.New("library and threads are for ONNX Runtime: build with the tag ORT, or leave them out")
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the graph cannot be read: %v: %w", r, ErrUnsupported)
		}
	}()
	o := options.Defaults()
	o.Backend = runtimeName
	o.GoMLXOptions.BatchBuckets = []int{1, fullBatch}
	for n := 1; len(o.GoMLXOptions.SequenceBuckets) == 0 || n <= window; n = paddedLength(n, window) + 1 {
		o.GoMLXOptions.SequenceBuckets = append(o.GoMLXOptions.SequenceBuckets, paddedLength(n, window))
	}
	model = &backends.Model{Path: c.Dir, OnnxBytes: graph}
	if err := backends.CreateModelBackend(model, o); err != nil {
		return nil, fmt.Errorf("%v: %w", err, ErrUnsupported)
	}
	for _, node := range model.GoMLXModel.OnnxModel.Proto.Graph.Node {
		if integerOps[node.OpType] {
			model.GoMLXModel.Destroy()
			return nil, fmt.Errorf("it computes on integers (%s), which hugot's backend in Go does not: use its fp32 form, or build with the tag ORT: %w", node.OpType, ErrUnsupported)
		}
	}
	nameAxes(model)
	return model, inOrder(model.GoMLXModel)
}

// inOrder makes the operations of the graph run one after the other. By default the backend runs several at once, and
// has data races where they share an input. What is parallel within an operation stays so.
func inOrder(m *backends.GoMLXModel) error {
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		return err
	}
	exec, err := context.NewExec(backend, m.Ctx, m.Call)
	if err != nil {
		return err
	}
	exec.SetMaxCache(m.MaxCache)
	m.Exec.Finalize()
	m.Backend.Finalize()
	m.Backend, m.Exec = backend, exec
	m.Destroy = func() {
		exec.Finalize()
		m.Ctx.Finalize()
		backend.Finalize()
	}
	return nil
}

// nameAxes tells the two open axes of each input apart. Some exporters call both "batch", and then the backend wants
// them equal.
func nameAxes(model *backends.Model) {
	for _, shape := range model.GoMLXModel.OnnxModel.InputsShapes {
		for i, axis := range []string{"batch", "sequence"} {
			if i < len(shape.Dimensions) && shape.Dimensions[i] < 0 {
				shape.Names[i] = axis
			}
		}
	}
}

// runBackend runs the batch, whose input tensors are made, and returns one output.
func runBackend(model *backends.Model, batch *backends.PipelineBatch, output int) (any, error) {
	if err := backends.RunSessionOnBatch(batch, &backends.BasePipeline{Model: model, Runtime: runtimeName}); err != nil {
		return nil, err
	}
	return batch.OutputValues[output], nil
}

// freeBackend releases the model's memory.
func freeBackend(model *backends.Model) error {
	model.GoMLXModel.Destroy()
	return nil
}
