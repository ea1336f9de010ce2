//go:build !ORT && !ALL

package onnx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/onnx"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
)

// What the backend in Go cannot do is told when the model is opened; integers would end the process.
func TestOpenRefusesOperations(t *testing.T) {
	for _, op := range []string{"DynamicQuantizeLinear", "MatMulInteger", "GatherND", "NoSuchOperation"} {
		t.Run(op, func(t *testing.T) {
			_, dir := folder(t, modeltest.Shape{}, onnxtest.Options{Op: op})
			if _, err := onnx.Open(onnx.Config{Dir: dir}); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), op) {
				t.Errorf("got %v, want ErrUnsupported that names %s", err, op)
			}
		})
	}
}

func TestOpenRefusesSettingsOfTheOtherBackend(t *testing.T) {
	_, dir := folder(t, modeltest.Shape{}, onnxtest.Options{})
	for _, c := range []onnx.Config{{Dir: dir, Library: "/lib"}, {Dir: dir, Threads: 2}} {
		if _, err := onnx.Open(c); err == nil || !strings.Contains(err.Error(), "ORT") {
			t.Errorf("%+v: got %v, want an error that names the tag", c, err)
		}
	}
}
