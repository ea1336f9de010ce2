package encoder

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"testing"

	"github.com/seed-d8745b77/rag/internal/simd"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// slowStep takes every so many texts where all of them would take long.
const slowStep = 50

// golden is a sequence and the vector that ONNX Runtime gives it; scripts/models/golden_encoder.py made them.
type golden struct {
	ids    []int32
	vector []float32
}

func readGolden(t testing.TB) []golden {
	t.Helper()
	const dims = 384
	packed, err := os.ReadFile("testdata/golden.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for len(raw) > 0 {
		g := golden{ids: make([]int32, binary.LittleEndian.Uint32(raw)), vector: make([]float32, dims)}
		raw = raw[4:]
		for i := range g.ids {
			g.ids[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		raw = raw[4*len(g.ids):]
		for i := range g.vector {
			g.vector[i] = halfFloat(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		raw = raw[2*dims:]
		all = append(all, g)
	}
	return all
}

// leastCosine checks the vectors of a model against the golden ones and returns the least cosine.
func leastCosine(t *testing.T, m *Model, want []golden) float64 {
	t.Helper()
	sequences := make([][]int32, len(want))
	for i, g := range want {
		sequences[i] = g.ids
	}
	got, err := NewRunner(m, 0).Embed(t.Context(), sequences)
	if err != nil {
		t.Fatal(err)
	}
	least := 1.0
	for i, g := range want {
		var ab, aa, bb float64
		for j, a := range got[i] {
			b := g.vector[j]
			ab, aa, bb = ab+float64(a)*float64(b), aa+float64(a)*float64(a), bb+float64(b)*float64(b)
		}
		least = min(least, ab/math.Sqrt(aa*bb))
	}
	return least
}

// every returns every so many elements.
func every[T any](all []T, step int) []T {
	var some []T
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

func TestVectorsAreONNXRuntimes(t *testing.T) {
	const someStep = 5 // of the built-in model, which embed/local compares as well
	all := readGolden(t)
	quantised, err := Load(builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	want := every(all, max(someStep, goldenStep))
	if c := leastCosine(t, quantised, want); !(c >= 0.995) {
		t.Errorf("quantised: least cosine %.6f, want 0.995", c)
	} else {
		t.Logf("quantised: %d texts, least cosine %.6f", len(want), c)
	}
	fp32, err := LoadDir(testdata.Shared(t, "models", "all-minilm-l6-v2"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want = every(all, goldenStep)
	if c := leastCosine(t, fp32, want); !(c >= 0.99995) {
		t.Errorf("fp32: least cosine %.6f, want 0.99995", c)
	} else {
		t.Logf("fp32: %d texts, least cosine %.7f", len(want), c)
	}
}

// TestScoresAreONNXRuntimes takes pairs of every length; scripts/models/golden_cross_encoder.py made the files, and the
// same ids.
func TestScoresAreONNXRuntimes(t *testing.T) {
	const dir, words, shortest = "testdata/cross-encoder", 256, 3
	raw, err := os.ReadFile(dir + "/logits.f32")
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range simd.Available() {
		step := goldenStep
		if i > 0 { // the fastest takes all lengths
			step = slowStep
		}
		m, err := loadDir(dir, Options{}, k)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []Pair
		for n := shortest; n <= m.Config().Positions; n++ {
			p := Pair{IDs: make([]int32, n), Types: make([]int32, n)}
			for i := range p.IDs {
				p.IDs[i] = int32((n*37 + i*101) % words)
				if i >= 1+n/3 {
					p.Types[i] = 1
				}
			}
			pairs = append(pairs, p)
		}
		if len(raw) != 4*len(pairs) {
			t.Fatalf("%d bytes of logits for %d pairs", len(raw), len(pairs))
		}
		got, err := NewRunner(m, 0).Score(t.Context(), every(pairs, step))
		if err != nil {
			t.Fatal(err)
		}
		var worst float64
		for i, v := range got {
			want := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*step*i:]))
			worst = max(worst, math.Abs(float64(v-want)))
		}
		if !(worst < 1e-4) {
			t.Errorf("kernel %s: a logit is off by %g", k.Name, worst)
		}
		t.Logf("kernel %s: %d pairs, logits within %.2g", k.Name, len(got), worst)
	}
}
