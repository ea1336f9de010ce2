//go:build !ORT && !ALL && !race

package hugot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	lib "github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/hugot"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// english are texts on which hugot's tokenizer is right; it is not where there are accents.
var english = []string{
	"cat",
	"The invoice must be paid within thirty days of delivery.",
	"How long is the period of notice?",
	"Concrete reaches most of its strength after 28 days, provided that it is kept moist.",
	"func main() { fmt.Println(\"hello, world\") }",
	"Version 2.3 removes the deprecated endpoint /v1/users and adds pagination; see RFC 5988.",
	strings.Repeat("She opened the letter, read it twice, and put it into the fire without a word. ", 5),
	strings.Repeat("Photosynthesis turns carbon dioxide and water into glucose and oxygen. ", 12),
}

// TestOurEncoderIsRight compares with hugot's own pipeline, which shares no line with ours: its tokenizer, its
// operations, its pooling. The weights are the published ones, as ONNX. Not under the race detector: hugot's pipeline has races
// of its own.
func TestOurEncoderIsRight(t *testing.T) {
	const leastExact, leastQuantised = 0.9999, 0.995 // cosines
	from := testdata.Shared(t, "models", "all-minilm-l6-v2")
	converted := t.TempDir()
	onnxtest.Write(t, from, converted, onnxtest.Options{})
	texts := english
	want := pipeline(t, converted, texts)

	quantised, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		embed func() ([][]float32, error)
		least float64
	}{
		{"fp32", func() ([][]float32, error) { return exact(t, from, texts) }, leastExact},
		{"the built-in model", func() ([][]float32, error) { return quantised.Embed(t.Context(), rag.AsPassage, texts) }, leastQuantised},
		{"this provider", func() ([][]float32, error) {
			return open(t, hugot.Config{Dir: converted}).Embed(t.Context(), rag.AsPassage, texts)
		}, leastExact},
	} {
		got, err := c.embed()
		if err != nil {
			t.Fatal(err)
		}
		worst := 1.0
		for i := range texts {
			cos := cosine(got[i], want[i])
			worst = min(worst, cos)
			if !(cos >= c.least) {
				t.Errorf("%s: %.60q: cosine %.6f to hugot's, want %.4f", c.name, texts[i], cos, c.least)
			}
		}
		t.Logf("%s: %d texts, least cosine to hugot's %.6f", c.name, len(texts), worst)
	}
}

// exact embeds with the published weights.
func exact(t *testing.T, dir string, texts []string) ([][]float32, error) {
	model, err := encoder.LoadDir(dir, encoder.Options{})
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	tokens, err := tokenize.Parse(file)
	if err != nil {
		return nil, err
	}
	sequences := make([][]int32, len(texts))
	for i, text := range texts {
		sequences[i], _ = tokens.Encode(text, model.Config().Positions)
	}
	return encoder.NewRunner(model, 0).Embed(t.Context(), sequences)
}

// pipeline embeds with hugot as its documentation tells.
func pipeline(t *testing.T, dir string, texts []string) (vectors [][]float32) {
	t.Helper()
	session, err := lib.NewGoSession(options.WithGoMLXBatchBuckets([]int{1}), options.WithGoMLXSequenceBuckets([]int{32, 256}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Destroy(); err != nil {
			t.Error(err)
		}
	}()
	p, err := lib.NewPipeline(session, lib.FeatureExtractionConfig{
		ModelPath: dir,
		Name:      "check",
		Options:   []lib.FeatureExtractionOption{pipelines.WithNormalization()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		out, err := p.RunPipeline([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, out.Embeddings...)
	}
	return vectors
}
