package local_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
)

func open(t testing.TB) *local.Embedder {
	t.Helper()
	e, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	ragtest.TestEmbedder(t, func(t *testing.T) rag.Embedder { return open(t) })
}

func TestVectorsAreTheReference(t *testing.T) {
	const least = 0.995 // cosine
	compare(t, open(t), referenceStep, least)
}

// compare checks the cosine to the vectors of the fp32 model for every step-th text; scripts/models/golden_vectors.py made the files.
func compare(t *testing.T, e rag.Embedder, step int, least float64) {
	t.Helper()
	raw, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatal(err)
	}
	halves, err := os.ReadFile("testdata/reference.f16")
	if err != nil {
		t.Fatal(err)
	}
	dims := e.Model().Dims
	if len(halves) != 2*dims*len(texts) {
		t.Fatalf("reference of %d bytes for %d texts", len(halves), len(texts))
	}
	var batch []string
	var want [][]float64
	for i := 0; i < len(texts); i += step {
		batch = append(batch, texts[i])
		want = append(want, halfFloats(halves[2*dims*i:2*dims*(i+1)]))
	}
	got, err := e.Embed(t.Context(), rag.AsPassage, batch)
	if err != nil {
		t.Fatal(err)
	}
	worst := 1.0
	for i, v := range got {
		c := cosine(v, want[i])
		worst = min(worst, c)
		if !(c >= least) {
			t.Errorf("%.60q: cosine %.6f to the reference, want %.5f", batch[i], c, least)
		}
	}
	t.Logf("%d texts, least cosine to the reference %.6f", len(got), worst)
}

func TestAloneAndInABatchToTheBit(t *testing.T) {
	texts := []string{"cat", "The cat sat on the mat.", strings.Repeat("A longer text about deliveries. ", 8), "?"}
	e := open(t)
	batch, err := e.Embed(t.Context(), rag.AsPassage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := e.Embed(t.Context(), rag.AsQuestion, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(batch[i], alone[0]); diff != "" {
			t.Errorf("%q (-batch +alone):\n%s", text, diff)
		}
	}
}

func TestTextsBeyondTheWindowAreCut(t *testing.T) {
	e := open(t)
	word := "word "
	window := strings.Repeat(word, e.Model().MaxTokens-2)
	if n := e.CountTokens(window); n != e.Model().MaxTokens-2 {
		t.Fatalf("CountTokens is %d, want %d", n, e.Model().MaxTokens-2)
	}
	v, err := e.Embed(t.Context(), rag.AsPassage, []string{window, window + "and a tail that nobody sees"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v[0], v[1]); diff != "" {
		t.Errorf("the tail changed the vector (-window +longer):\n%s", diff)
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	e := open(t)
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = strings.Repeat("long text ", 200)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := e.Embed(ctx, rag.AsPassage, texts)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestRegistered(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		want     error
	}{
		"defaults":         {``, nil},
		"all settings":     {`{"model": "builtin", "threads": 1}`, nil},
		"unknown model":    {`{"model": "bulitin"}`, rag.ErrInvalid},
		"negative threads": {`{"threads": -1}`, rag.ErrInvalid},
		"unknown setting":  {`{"modell": "builtin"}`, rag.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rag.Default.Embedders.New("local", rag.Env{}, json.RawMessage(c.settings))
			if !errors.Is(err, c.want) {
				t.Errorf("got error %v, want %v", err, c.want)
			}
		})
	}
	if _, err := local.New(local.Config{Model: "gpt"}); err == nil || !strings.Contains(err.Error(), "builtin") {
		t.Errorf("got error %v, want one that names the known models", err)
	}
}

func TestModelIsWhatItsReadmeSays(t *testing.T) {
	readme, err := os.ReadFile("model/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"weights.bin", "vocab.txt"} {
		file, err := os.ReadFile(filepath.Join("model", name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(file)); !strings.Contains(string(readme), sum) {
			t.Errorf("%s has the digest %s, which the README does not name", name, sum)
		}
	}
}

// TestModelIsMadeByTheScript runs the command that model/README.md names.
func TestModelIsMadeByTheScript(t *testing.T) {
	from, err := filepath.Abs(testdata.Shared(t, "models", "all-minilm-l6-v2"))
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", "../../scripts/models/quantize", "-from", from, "-to", to)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"weights.bin", "vocab.txt"} {
		made, err := os.ReadFile(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("model", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s: what the script makes is not what the project carries", name)
		}
	}
}

// halfFloats reads little-endian IEEE half floats; vectors hold neither infinities nor NaNs.
func halfFloats(raw []byte) []float64 {
	const (
		fractionBits = 10
		bias         = 15
	)
	var out []float64
	for ; len(raw) > 0; raw = raw[2:] {
		bits := binary.LittleEndian.Uint16(raw)
		fraction, exponent := int(bits&(1<<fractionBits-1)), int(bits>>fractionBits&31)
		if exponent == 0 {
			exponent = 1
		} else {
			fraction |= 1 << fractionBits
		}
		v := math.Ldexp(float64(fraction), exponent-bias-fractionBits)
		if bits>>15 == 1 {
			v = -v
		}
		out = append(out, v)
	}
	return out
}

func cosine(a []float32, b []float64) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab += float64(x) * b[i]
		aa += float64(x) * float64(x)
		bb += b[i] * b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

func BenchmarkQuestion(b *testing.B) {
	e := open(b)
	for b.Loop() {
		if _, err := e.Embed(b.Context(), rag.AsQuestion, []string{"How long is the period of notice for the contract?"}); err != nil {
			b.Fatal(err)
		}
	}
}
