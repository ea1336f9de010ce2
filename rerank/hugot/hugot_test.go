package hugot_test

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/rerank/hugot"
)

// folder writes a small model of random weights as ONNX.
func folder(t *testing.T, shape modeltest.Shape, o onnxtest.Options) string {
	t.Helper()
	plain, converted := t.TempDir(), t.TempDir()
	modeltest.Write(t, plain, shape)
	onnxtest.Write(t, plain, converted, o)
	return converted
}

func open(t testing.TB, c hugot.Config) *hugot.Reranker {
	t.Helper()
	r, err := hugot.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func rerank(t *testing.T, r rag.Reranker, query string, texts ...string) []float64 {
	t.Helper()
	scores, err := r.Rerank(t.Context(), query, texts)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// agreeable is a seed of weights that rank the suite's two passages as it wants: random weights know nothing, and half
// of them do.
const agreeable = 1

func TestConformance(t *testing.T) {
	for name, o := range map[string]onnxtest.Options{"one label": {}, "two labels": {Labels: 2}} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, modeltest.Shape{Scores: true, Seed: agreeable}, o)
			ragtest.TestReranker(t, func(t *testing.T) rag.Reranker { return open(t, hugot.Config{Dir: dir}) })
		})
	}
}

func TestConformanceOfTheTestModel(t *testing.T) {
	r := open(t, hugot.Config{Dir: testdata.Shared(t, "models", "test-cross-encoder"), MaxTokens: 64})
	ragtest.TestReranker(t, func(*testing.T) rag.Reranker { return r })
}

func TestTwoLabelsAreTheirOdds(t *testing.T) {
	const tolerance = 1e-5
	shape := modeltest.Shape{Scores: true, Seed: 3}
	one := rerank(t, open(t, hugot.Config{Dir: folder(t, shape, onnxtest.Options{})}), "who?", "a", "b c")
	two := rerank(t, open(t, hugot.Config{Dir: folder(t, shape, onnxtest.Options{Labels: 2})}), "who?", "a", "b c")
	for i := range one {
		if math.Abs(two[i]-2*one[i]) > tolerance { // the labels' logits are -x and x
			t.Errorf("text %d: %g with two labels, %g with one", i, two[i], one[i])
		}
	}
}

// A text that spells a special token, and one beyond the window, are what hugot's pipeline gets wrong.
func TestLongTextsKeepTheirEnd(t *testing.T) {
	r := open(t, hugot.Config{Dir: folder(t, modeltest.Shape{Scores: true}, onnxtest.Options{}), MaxTokens: 32})
	window := strings.Repeat("a ", 32-3-2) // special tokens, and the query of two
	scores := rerank(t, r, "who?", window, window+"b c d")
	if scores[0] != scores[1] {
		t.Errorf("scores %v: what is beyond the window counts, or the closing token is lost", scores)
	}
}

func TestDescribesItself(t *testing.T) {
	dir := folder(t, modeltest.Shape{Scores: true}, onnxtest.Options{})
	a, b := open(t, hugot.Config{Dir: dir}), open(t, hugot.Config{Dir: dir, MaxTokens: 16, Languages: []string{"en"}})
	if got := b.RerankModel(); got.MaxTokens != 16 || len(got.Languages) != 1 || got.Languages[0] != "en" {
		t.Errorf("window %d, languages %q, want 16 and en", got.MaxTokens, got.Languages)
	}
	names := []string{a.RerankModel().Name, a.Fingerprint(), b.RerankModel().Name, b.Fingerprint()}
	if names[0] != names[1] || names[2] != names[3] || names[0] == names[2] {
		t.Errorf("names and fingerprints of two windows: %q", names)
	}
	if diff := cmp.Diff([]int{0, 1, 3}, []int{a.CountTokens(""), a.CountTokens("a"), a.CountTokens("a b c")}); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestRegistered(t *testing.T) {
	dir := folder(t, modeltest.Shape{Scores: true}, onnxtest.Options{})
	tokens := folder(t, modeltest.Shape{}, onnxtest.Options{})
	for name, c := range map[string]struct {
		settings map[string]any
		want     error
	}{
		"a folder":          {map[string]any{"dir": dir}, nil},
		"all settings":      {map[string]any{"dir": dir, "file": "model.onnx", "output": onnxtest.OutputLogits, "max_tokens": 64}, nil},
		"no folder":         {map[string]any{}, rag.ErrInvalid},
		"an absent folder":  {map[string]any{"dir": filepath.Join(dir, "absent")}, rag.ErrNotFound},
		"an embedding":      {map[string]any{"dir": tokens}, rag.ErrUnsupported},
		"an unknown output": {map[string]any{"dir": dir, "output": "x"}, rag.ErrInvalid},
		"an unknown key":    {map[string]any{"dir": dir, "modell": "x"}, rag.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := json.Marshal(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			r, err := rag.Default.Rerankers.New("hugot", rag.Env{}, settings)
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if err == nil {
				r.(*hugot.Reranker).Close()
			}
		})
	}
}
