package multilingual_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/ragtest"
)

func open(t testing.TB) *local.Embedder {
	t.Helper()
	e, err := multilingual.New(multilingual.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	if referenceStep > 1 {
		t.Skip("the suite takes minutes with twelve layers and no fast kernels; package local runs it on the same code")
	}
	ragtest.TestEmbedder(t, func(t *testing.T) rag.Embedder { return open(t) })
}

// TestVectorsAreTheReference compares with the fp32 model of the same weights, which holds the processor's arithmetic,
// the tokenizer and the prefixes against another's; scripts/models/golden_multilingual.py made the files.
func TestVectorsAreTheReference(t *testing.T) {
	const least = 0.999 // cosine
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
	e := open(t)
	dims := e.Model().Dims
	if len(halves) != 2*dims*len(texts) {
		t.Fatalf("reference of %d bytes for %d texts", len(halves), len(texts))
	}
	worst := 1.0
	for i := 0; i < len(texts); i += referenceStep {
		role := rag.AsPassage
		text, ok := strings.CutPrefix(texts[i], e.Model().PassagePrefix)
		if !ok {
			role, text = rag.AsQuestion, strings.TrimPrefix(texts[i], e.Model().QuestionPrefix)
		}
		got, err := e.Embed(t.Context(), role, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		c := cosine(got[0], halves[2*dims*i:2*dims*(i+1)])
		worst = min(worst, c)
		if !(c >= least) {
			t.Errorf("%.60q: cosine %.6f to the reference, want %.3f", texts[i], c, least)
		}
	}
	t.Logf("least cosine to the reference %.6f", worst)
}

// cosine returns that of a and of little-endian half floats.
func cosine(a []float32, halves []byte) float64 {
	var dot, aa, bb float64
	for i, v := range a {
		x, y := float64(v), halfFloat(binary.LittleEndian.Uint16(halves[2*i:]))
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}

func halfFloat(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&31), float64(h&1023)/1024
	if exponent == 0 {
		return sign * math.Ldexp(fraction, -14)
	}
	return sign * math.Ldexp(1+fraction, exponent-15)
}

func TestQuestionsFindPassagesOfAnotherLanguage(t *testing.T) {
	e := open(t)
	passages := []string{
		"The tuition fee for international students is 9,000 euros a year.",
		"A student visa application needs a passport, a letter of admission and proof of funds.",
		"The university restaurant is open from half past eleven to two o'clock.",
	}
	questions := []string{"学费是多少？", "Quels documents faut-il pour un visa d'étudiant ?", "Wann hat die Mensa geöffnet?"}
	p, err := e.Embed(t.Context(), rag.AsPassage, passages)
	if err != nil {
		t.Fatal(err)
	}
	q, err := e.Embed(t.Context(), rag.AsQuestion, questions)
	if err != nil {
		t.Fatal(err)
	}
	for i, question := range q {
		best, found := math.Inf(-1), -1
		for j, passage := range p {
			var dot float64
			for k := range passage {
				dot += float64(question[k]) * float64(passage[k])
			}
			if dot > best {
				best, found = dot, j
			}
		}
		if found != i {
			t.Errorf("%q finds %q, want %q", questions[i], passages[found], passages[i])
		}
	}
}

func TestModel(t *testing.T) {
	m := open(t).Model()
	if m.Revision == "" || m.Dims != 384 || m.QuestionPrefix != "query: " || m.PassagePrefix != "passage: " || len(m.Languages) != 8 {
		t.Errorf("model %+v", m)
	}
}

func TestSettings(t *testing.T) {
	if _, err := rag.Default.Embedders.New("multilingual", rag.Env{}, json.RawMessage(`{"threads": 1}`)); err != nil {
		t.Error(err)
	}
	for _, settings := range []string{`{"threads": -1}`, `{"model": "x"}`} {
		if _, err := rag.Default.Embedders.New("multilingual", rag.Env{}, json.RawMessage(settings)); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", settings, err)
		}
	}
}

// cutModel names the environment variable with the folder that scripts/models/cut.py wrote.
const cutModel = "RAG_CUT_MODEL"

func TestModelIsWhatTheScriptMakes(t *testing.T) {
	from, to := os.Getenv(cutModel), t.TempDir()
	if from == "" {
		t.Skip(cutModel + " names no folder: the model cannot be made again, see model/README.md")
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "../../../scripts/models/quantize", "-from", from, "-to", to, "-form", "i4")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"weights.bin", "tokenizer.json.gz"} {
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

// BenchmarkPassages embeds passages of about 128 tokens, beside the built-in English model.
func BenchmarkPassages(b *testing.B) {
	english, err := local.New(local.Config{})
	if err != nil {
		b.Fatal(err)
	}
	const passages, tokens = 16, 126
	for _, m := range []struct {
		name string
		e    *local.Embedder
	}{{"multilingual", open(b)}, {"builtin", english}} {
		text := "The supplier"
		for m.e.CountTokens(text) < tokens {
			text += " shall notify the customer of any delay"
		}
		texts := make([]string, passages)
		for i := range texts {
			texts[i] = text
		}
		if err := m.e.Check(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.e.Embed(b.Context(), rag.AsPassage, texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(passages*b.N)/b.Elapsed().Seconds(), "passages/s")
		})
	}
}
