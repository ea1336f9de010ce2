package encoder

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/simd"
)

var tinyConfig = Config{
	Architecture: ArchitectureBERT, Layers: 2, Hidden: 64, Heads: 4, FeedForward: 48,
	Vocabulary: 50, Positions: 40, Types: 2, Epsilon: 1e-12, Pooling: PoolingMean,
}

// headNames are the two layers of a head, as the hubs' models name them.
var headNames = map[string][2]string{
	ArchitectureBERT:    {"pooler.dense", "classifier"},
	ArchitectureRoBERTa: {"classifier.dense", "classifier.out_proj"},
}

// tinyTensors are random weights of the shape of c, by name.
func tinyTensors(c Config) []Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	all := c.layout()
	for i := range all {
		t := &all[i]
		var mean float32
		if strings.HasSuffix(t.Name, "LayerNorm.weight") {
			mean = 1
		}
		for range t.Rows * t.Cols {
			t.Values = append(t.Values, mean+float32(rng.NormFloat64()*0.2))
		}
	}
	return all
}

// exact leaves all tensors as they are.
func exact(string) Form { return Float32 }

// int8s rounds the matrices.
func int8s(name string) Form { return matricesAs(Int8, name) }

// int4s rounds the matrices more, but for the one whose rows are not whole blocks.
func int4s(name string) Form {
	if strings.HasSuffix(name, ".output.dense.weight") && !strings.Contains(name, "attention") {
		return matricesAs(Int8, name)
	}
	return matricesAs(Int4, name)
}

func matricesAs(form Form, name string) Form {
	if strings.HasSuffix(name, ".weight") && !strings.Contains(name, "LayerNorm") {
		return form
	}
	return Float32
}

func tinyFile(t testing.TB, form func(string) Form) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, tinyConfig, tinyTensors(tinyConfig), form); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func tinyModel(t testing.TB, form func(string) Form, k simd.Kernels) *Model {
	t.Helper()
	m, err := load(tinyFile(t, form), k)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sequence returns n ids that differ by seed.
func sequence(n, seed int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((seed + 7*i) % tinyConfig.Vocabulary)
	}
	return ids
}

// farthest is the largest difference of two vectors in a component.
func farthest(a, b []float32) float64 {
	var d float64
	for i := range a {
		d = max(d, float64(a[i]-b[i]), float64(b[i]-a[i]))
	}
	return d
}
