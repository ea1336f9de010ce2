package hugot_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/hugot"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/ragtest"
)

// folder writes a small model of random weights as ONNX.
func folder(t *testing.T, shape modeltest.Shape) string {
	t.Helper()
	plain, converted := t.TempDir(), t.TempDir()
	modeltest.Write(t, plain, shape)
	onnxtest.Write(t, plain, converted, onnxtest.Options{})
	return converted
}

func open(t testing.TB, c hugot.Config) *hugot.Embedder {
	t.Helper()
	e, err := hugot.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// exported returns the folder of a model that somebody else exported, below $RAG_ONNX_MODELS.
func exported(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("RAG_ONNX_MODELS"), name)
	if _, err := os.Stat(dir); err != nil || os.Getenv("RAG_ONNX_MODELS") == "" {
		t.Skipf("skipped: needs the ONNX model %s; set RAG_ONNX_MODELS to the folder that holds it", name)
	}
	return dir
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]hugot.Config{
		"the mean of the tokens": {},
		"the first token":        {Pooling: "cls", MaxTokens: 64},
		"prefixes":               {QuestionPrefix: "query: ", PassagePrefix: "passage: "},
	} {
		t.Run(name, func(t *testing.T) {
			c.Dir = folder(t, modeltest.Shape{})
			ragtest.TestEmbedder(t, func(t *testing.T) rag.Embedder { return open(t, c) })
		})
	}
}

func TestConformanceOfAnExportedModel(t *testing.T) {
	dir := exported(t, "all-minilm-l6-v2-onnx")
	e := open(t, hugot.Config{Dir: dir, MaxTokens: 64})
	ragtest.TestEmbedder(t, func(*testing.T) rag.Embedder { return e })
}

// Integers in activations make the vectors depend on the batch on any engine, and end the process on this one.
func TestQuantisedActivationsAreRefused(t *testing.T) {
	if _, err := hugot.New(hugot.Config{Dir: exported(t, "e5-small-v2-q-onnx")}); !errors.Is(err, rag.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestModelDescribesWhatIsConfigured(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	languages := []string{"en"}
	c := hugot.Config{Dir: dir, Name: "tiny", Pooling: "cls", MaxTokens: 50, QuestionPrefix: "q: ", PassagePrefix: "p: ", Languages: languages}
	e := open(t, c)
	got := e.Model()
	if len(got.Revision) != 12 {
		t.Errorf("revision %q", got.Revision)
	}
	got.Revision = ""
	want := rag.EmbedModel{Name: "tiny", Dims: 32, MaxTokens: 50, MaxBatch: 64, QuestionPrefix: "q: ", PassagePrefix: "p: ", Pooling: "cls", Languages: []string{"en"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	languages[0], got.Languages[0] = "fr", "de"
	if diff := cmp.Diff(want.Languages, e.Model().Languages); diff != "" {
		t.Errorf("languages changed from outside (-want +got):\n%s", diff)
	}
	if name := open(t, hugot.Config{Dir: dir + "/"}).Model().Name; name != filepath.Base(dir) {
		t.Errorf("without a name it is called %q", name)
	}
}

func TestVectorsHaveLengthOneAndPrefixesCount(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	e := open(t, hugot.Config{Dir: dir, QuestionPrefix: "query: "})
	var vectors [][]float32
	for _, c := range []struct {
		role rag.EmbedRole
		text string
	}{{rag.AsQuestion, "who?"}, {rag.AsPassage, "query: who?"}, {rag.AsPassage, "who?"}} {
		v, err := e.Embed(t.Context(), c.role, []string{c.text})
		if err != nil {
			t.Fatal(err)
		}
		if n := cosine(v[0], v[0]); math.Abs(n-1) > 1e-6 {
			t.Errorf("squared length %g", n)
		}
		vectors = append(vectors, v[0])
	}
	if diff := cmp.Diff(vectors[0], vectors[1]); diff != "" {
		t.Errorf("the prefix put before is not the prefix written out:\n%s", diff)
	}
	if cmp.Equal(vectors[0], vectors[2]) {
		t.Error("the prefix changes nothing")
	}
}

func TestEmbedAfterClose(t *testing.T) {
	e := open(t, hugot.Config{Dir: folder(t, modeltest.Shape{})})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), rag.AsPassage, []string{"a"}); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, rag.AsPassage, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestRegistered(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	pairs := folder(t, modeltest.Shape{Scores: true})
	for name, c := range map[string]struct {
		settings map[string]any
		want     error
	}{
		"a folder":                       {map[string]any{"dir": dir}, nil},
		"settings of a model card":       {map[string]any{"dir": dir, "file": "model.onnx", "output": onnxtest.OutputTokens, "pooling": "mean", "max_tokens": 32, "languages": []string{"en"}}, nil},
		"no folder":                      {map[string]any{}, rag.ErrInvalid},
		"an absent folder":               {map[string]any{"dir": filepath.Join(dir, "absent")}, rag.ErrNotFound},
		"an unknown pooling":             {map[string]any{"dir": dir, "pooling": "max"}, rag.ErrInvalid},
		"an unknown output":              {map[string]any{"dir": dir, "output": "x"}, rag.ErrInvalid},
		"a window beyond the positions":  {map[string]any{"dir": dir, "max_tokens": 1 << 20}, rag.ErrInvalid},
		"pooling of a vector for a text": {map[string]any{"dir": pairs, "pooling": "mean"}, rag.ErrInvalid},
		"an unknown setting":             {map[string]any{"dir": dir, "onnx": true}, rag.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := json.Marshal(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			e, err := rag.Default.Embedders.New("hugot", rag.Env{}, settings)
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if err == nil {
				e.(*hugot.Embedder).Close()
			}
		})
	}
	if _, err := hugot.New(hugot.Config{Dir: dir, Pooling: "men"}); err == nil || !strings.Contains(err.Error(), `did you mean "mean"`) {
		t.Errorf("got error %v, want one that helps", err)
	}
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}
