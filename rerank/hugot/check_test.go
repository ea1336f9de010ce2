//go:build !ORT && !ALL && !race

package hugot_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lib "github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/internal/tokenize"
	"github.com/seed-d8745b77/rag/rerank/hugot"
)

const query = "how long does a battery last?"

// passages are texts that hugot's pipeline reads as we do: short enough, and without special tokens.
var passages = []string{
	"", "The battery lasts ten hours.", "A duck is a bird.", strings.Repeat("It lasts. ", 6),
	"Charge it overnight; it then runs for a week, unless the radio is on.",
}

// TestOurCrossEncoderIsRight compares with hugot's own pipeline, which shares no line with ours and returns the
// logit's sigmoid. Not under the race detector: hugot's pipeline has races
// of its own.
func TestOurCrossEncoderIsRight(t *testing.T) {
	plain, converted := t.TempDir(), t.TempDir()
	modeltest.Write(t, plain, modeltest.Shape{Scores: true, Seed: 5})
	declareSpecialTokens(t, filepath.Join(plain, "tokenizer.json"))
	onnxtest.Write(t, plain, converted, onnxtest.Options{})
	want := pipeline(t, converted)

	compare(t, "this provider", rerank(t, open(t, hugot.Config{Dir: converted}), query, passages...), want)
	compare(t, "internal/encoder", scores(t, plain), want)
}

func TestTheTestModelsScoresAreThePipelines(t *testing.T) {
	dir := testdata.Shared(t, "models", "test-cross-encoder")
	compare(t, "this provider", rerank(t, open(t, hugot.Config{Dir: dir}), query, passages...), pipeline(t, dir))
}

// declareSpecialTokens says in a tokenizer's file that its first entries are special: hugot's pipeline writes [SEP] into
// the text.
func declareSpecialTokens(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	var tokens []map[string]any
	for id, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		tokens = append(tokens, map[string]any{"id": id, "content": name, "special": true, "normalized": false})
	}
	file["added_tokens"] = tokens
	if raw, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare compares the sigmoids of logits.
func compare(t *testing.T, name string, logits, want []float64) {
	t.Helper()
	const tolerance = 1e-5
	var worst float64
	for i, logit := range logits {
		d := math.Abs(1/(1+math.Exp(-logit)) - want[i])
		worst = max(worst, d)
		if !(d <= tolerance) {
			t.Errorf("%s: %.40q: logit %g, whose sigmoid is not %g", name, passages[i], logit, want[i])
		}
	}
	t.Logf("%s: %d pairs, largest difference to hugot's score %.1e", name, len(logits), worst)
}

// scores are the logits of our encoder.
func scores(t *testing.T, dir string) []float64 {
	t.Helper()
	model, err := encoder.LoadDir(dir, encoder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenize.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	pairs := make([]encoder.Pair, len(passages))
	for i, p := range passages {
		pairs[i].IDs, pairs[i].Types, _ = tokens.EncodePair(query, p, model.Config().Positions)
	}
	logits, err := encoder.NewRunner(model, 0).Score(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	wide := make([]float64, len(logits))
	for i, x := range logits {
		wide[i] = float64(x)
	}
	return wide
}

// pipeline scores with hugot as its documentation tells, in the order of the passages.
func pipeline(t *testing.T, dir string) []float64 {
	t.Helper()
	session, err := lib.NewGoSession(options.WithGoMLXBatchBuckets([]int{1}), options.WithGoMLXSequenceBuckets([]int{128}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Destroy(); err != nil {
			t.Error(err)
		}
	}()
	p, err := lib.NewPipeline(session, lib.CrossEncoderConfig{
		ModelPath: dir,
		Name:      "check",
		Options:   []lib.CrossEncoderOption{pipelines.WithSortResults(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.RunPipeline(query, passages)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, len(passages))
	for _, r := range out.Results {
		scores[r.Index] = float64(r.Score)
	}
	return scores
}
