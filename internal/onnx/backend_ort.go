//go:build ORT || ALL

package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
	ort "github.com/yalue/onnxruntime_go"
)

// runtimeName is hugot's name of ONNX Runtime.
const runtimeName = "ORT"

// fullBatch bounds the memory of a batch; a larger one is no faster.
const fullBatch = 32

// batchSize returns how many of this many sequences to run together.
func batchSize(alike int) int { return min(alike, fullBatch) }

// lengthStep is how much longer than the shortest of its batch a sequence may be.
const lengthStep = 16

// paddedLength groups lengths: batches hold sequences of the same group, and are padded to their own longest.
func paddedLength(n, window int) int {
	return min((n+lengthStep-1)/lengthStep*lengthStep, window)
}

// environment is ONNX Runtime's state, of which a process has one.
var environment struct {
	mu      sync.Mutex
	library string // what was loaded
}

// start loads the shared library unless it is loaded. It stays until the process ends.
func start(library string) error {
	environment.mu.Lock()
	defer environment.mu.Unlock()
	file, err := libraryFile(library)
	if err != nil {
		return err
	}
	if ort.IsInitialized() {
		if library != "" && environment.library != file {
			return fmt.Errorf("ONNX Runtime is loaded from %s already, a process cannot load it from %s too", environment.library, file)
		}
		return nil
	}
	ort.SetSharedLibraryPath(file)
	if err := ort.InitializeEnvironment(); err != nil {
		return fmt.Errorf("load ONNX Runtime from %s: %w", file, err)
	}
	environment.library = file
	return ort.DisableTelemetry()
}

// libraryFile returns the shared library that a setting names.
func libraryFile(library string) (string, error) {
	name := map[string]string{"windows": "onnxruntime.dll", "darwin": "libonnxruntime.dylib"}[runtime.GOOS]
	if name == "" {
		name = "libonnxruntime.so"
	}
	if library == "" {
		return name, nil
	}
	info, err := os.Stat(library)
	if err != nil {
		return "", fmt.Errorf("ONNX Runtime: %w", err)
	}
	if info.IsDir() {
		library = filepath.Join(library, name)
	}
	return library, nil
}

// newBackend makes the model of a graph.
func newBackend(c Config, _ int, graph []byte) (*backends.Model, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("%d threads: want 0 (one for each core) or more", c.Threads)
	}
	if err := start(c.Library); err != nil {
		return nil, err
	}
	session, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer session.Destroy() //nolint:errcheck // the session has its own copy; nothing can be done about an error
	if err := session.SetIntraOpNumThreads(c.Threads); err != nil {
		return nil, err
	}
	o := options.Defaults()
	o.Backend, o.BackendOptions = runtimeName, session
	// hugot makes Path the working directory of the whole process for a while, for the sake of weights in a file of
	// their own. The working directory stays; such weights are refused by ONNX Runtime.
	model := &backends.Model{Path: ".", OnnxBytes: graph}
	if err := backends.CreateModelBackend(model, o); err != nil {
		return nil, fmt.Errorf("%v: %w", err, ErrUnsupported)
	}
	return model, nil
}

// runBackend runs the batch, whose input tensors are made, and returns one output. hugot's own function does not free
// what ONNX Runtime returns.
func runBackend(model *backends.Model, batch *backends.PipelineBatch, output int) (_ any, err error) {
	tensors := make([]ort.Value, len(model.OutputsMeta))
	if err := model.ORTModel.Session.Run(batch.InputValues.([]ort.Value), tensors); err != nil {
		return nil, err
	}
	defer func() {
		for _, t := range tensors {
			err = errors.Join(err, t.Destroy())
		}
	}()
	t, ok := tensors[output].(*ort.Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("the output holds %T: want 32-bit floating point numbers", tensors[output])
	}
	return backends.ReshapeOutput(t.GetData(), model.OutputsMeta[output], batch.Size, batch.PaddingMask, batch.MaxSequenceLength), nil
}

// freeBackend releases the model's memory.
func freeBackend(model *backends.Model) error { return model.ORTModel.Destroy() }
