package modelrun_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// embedder and reranker are cards of models of a test.
var (
	embedder = modelhub.Card{Name: "small", Task: modelhub.TaskEmbed, Pooling: modelhub.PoolingMean}
	reranker = modelhub.Card{Name: "small", Task: modelhub.TaskRerank}
)

func open(t *testing.T, card modelhub.Card, s modeltest.Shape) *modelrun.Model {
	t.Helper()
	dir := t.TempDir()
	modeltest.Write(t, dir, s)
	m, err := modelrun.Open(card, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOpenCompletesTheCard(t *testing.T) {
	got := open(t, embedder, modeltest.Shape{}).Card()
	if got.Dims != 32 || got.MaxTokens != 128 || got.Pooling != modelhub.PoolingMean {
		t.Errorf("card %+v: want 32 dimensions and 128 tokens of the folder", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		card   modelhub.Card
		shape  modeltest.Shape
		change func(c *modelhub.Card, dir string)
		want   error
		text   string
	}{
		{"an incomplete folder", embedder, modeltest.Shape{}, func(_ *modelhub.Card, dir string) {
			_ = os.Remove(filepath.Join(dir, modelhub.TokenizerFile))
		}, modelhub.ErrNotFound, "tokenizer.json"},
		{"a cross-encoder as embedder", embedder, modeltest.Shape{Scores: true}, nil, modelhub.ErrInvalid, "under rerank"},
		{"an embedding model as reranker", reranker, modeltest.Shape{}, nil, modelhub.ErrInvalid, "under embedder"},
		{"a window like that of bge-m3", embedder, modeltest.Shape{Positions: 8192, Layers: 1}, nil, modelhub.ErrUnsupported, "8192 tokens"},
		{"a model of another kind", embedder, modeltest.Shape{Type: "nomic_bert"}, nil, modelhub.ErrUnsupported, "nomic_bert"},
		{"other dimensions", embedder, modeltest.Shape{}, func(c *modelhub.Card, _ string) { c.Dims = 384 }, modelhub.ErrInvalid, "384"},
		{"a window beyond the positions", embedder, modeltest.Shape{}, func(c *modelhub.Card, _ string) { c.MaxTokens = 512 }, modelhub.ErrInvalid, "512"},
		{"an unknown pooling", embedder, modeltest.Shape{}, func(c *modelhub.Card, _ string) { c.Pooling = "max" }, modelhub.ErrUnsupported, "max"},
		{"a tokenizer of another kind", embedder, modeltest.Shape{}, func(_ *modelhub.Card, dir string) {
			_ = os.WriteFile(filepath.Join(dir, modelhub.TokenizerFile), []byte(`{"model": {"type": "BPE"}}`), 0o644)
		}, modelhub.ErrUnsupported, "BPE"},
		{"weights that are cut off", embedder, modeltest.Shape{}, func(_ *modelhub.Card, dir string) {
			_ = os.Truncate(filepath.Join(dir, modelhub.WeightsFile), 20_000)
		}, modelhub.ErrInvalid, "cut off"},
		{"weights of fewer layers", embedder, modeltest.Shape{Layers: 1}, func(_ *modelhub.Card, dir string) {
			path := filepath.Join(dir, modelhub.ConfigFile)
			config, _ := os.ReadFile(path)
			_ = os.WriteFile(path, bytes.Replace(config, []byte(`"num_hidden_layers":1`), []byte(`"num_hidden_layers":2`), 1), 0o644)
		}, modelhub.ErrInvalid, "there is no tensor"},
		{"a configuration that is none", embedder, modeltest.Shape{}, func(_ *modelhub.Card, dir string) {
			_ = os.WriteFile(filepath.Join(dir, modelhub.ConfigFile), []byte(`[]`), 0o644)
		}, modelhub.ErrInvalid, "config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, card := t.TempDir(), tt.card
			modeltest.Write(t, dir, tt.shape)
			if tt.change != nil {
				tt.change(&card, dir)
			}
			_, err := modelrun.Open(card, dir, 1)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got error %v, want %v with %q", err, tt.want, tt.text)
			}
			said := 0 // how often the kind is
			for _, kind := range []error{modelhub.ErrInvalid, modelhub.ErrUnsupported, encoder.ErrFormat, encoder.ErrUnsupported} {
				said += strings.Count(err.Error(), kind.Error())
			}
			if said > 1 {
				t.Errorf("%v: the kind is said %d times", err, said)
			}
		})
	}
}

func TestRevisionNamesTheContent(t *testing.T) {
	first := open(t, embedder, modeltest.Shape{Seed: 1}).Revision()
	if again := open(t, embedder, modeltest.Shape{Seed: 1}).Revision(); again != first {
		t.Errorf("the same content has the revisions %s and %s", first, again)
	}
	if other := open(t, embedder, modeltest.Shape{Seed: 2}).Revision(); other == first {
		t.Errorf("other weights have the same revision %s", first)
	}
}

func TestAModelThatStraysIsRefused(t *testing.T) {
	shape := modeltest.Shape{Seed: 1}
	vectors, err := open(t, embedder, shape).Embed(t.Context(), []string{"a text"})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := open(t, reranker, modeltest.Shape{Seed: 1, Scores: true}).Score(t.Context(), "a query", []string{"a text"})
	if err != nil {
		t.Fatal(err)
	}
	component, score := float64(vectors[0][1]), float64(scores[0])
	for _, tt := range []struct {
		name   string
		stray  float64
		within float64
		want   error
	}{
		{"as published", 0, 0, nil},
		{"within the tolerance", 0.9 * modelhub.Tolerance, 0, nil},
		{"beyond it", 1.1 * modelhub.Tolerance, 0, modelhub.ErrMismatch},
		{"within a wider one", 1.1 * modelhub.Tolerance, 2 * modelhub.Tolerance, nil},
		{"beyond a wider one", 2.2 * modelhub.Tolerance, 2 * modelhub.Tolerance, modelhub.ErrMismatch},
		{"not a number", math.NaN(), 0, modelhub.ErrMismatch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			card := embedder
			card.Checks = []modelhub.Check{{Text: "a text", Want: []float64{float64(vectors[0][0]), component + tt.stray}, Within: tt.within}}
			m := open(t, card, shape)
			if err := m.Check(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("vectors: got error %v, want %v", err, tt.want)
			}
			if _, err := m.Embed(t.Context(), []string{"another"}); !errors.Is(err, tt.want) {
				t.Errorf("Embed: got error %v, want %v", err, tt.want)
			}
			card = reranker
			card.Checks = []modelhub.Check{{Text: "a query", Pair: "a text", Want: []float64{score + tt.stray}, Within: tt.within}}
			if err := open(t, card, modeltest.Shape{Seed: 1, Scores: true}).Check(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("scores: got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestACheckCutShortIsMadeAgain(t *testing.T) {
	m := open(t, embedder, modeltest.Shape{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	if err := m.Check(t.Context()); err != nil {
		t.Errorf("the next caller got %v", err)
	}
}

func TestWeightsThatCannotBeReadStayAnError(t *testing.T) {
	calls := 0
	dir := t.TempDir()
	modeltest.Write(t, dir, modeltest.Shape{})
	whole, err := modelrun.Open(embedder, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := modelrun.New(embedder, whole.Words(), "r", 1, func() (*encoder.Model, error) {
		calls++
		return nil, encoder.ErrFormat
	})
	for range 2 {
		if _, err := m.Embed(t.Context(), []string{"a"}); !errors.Is(err, modelhub.ErrInvalid) {
			t.Errorf("got error %v, want ErrInvalid", err)
		}
	}
	if calls != 1 {
		t.Errorf("the weights were read %d times", calls)
	}
}

func TestAQueryLeavesHalfOfTheWindowToTheText(t *testing.T) {
	m := open(t, reranker, modeltest.Shape{Scores: true, Seed: 3})
	query := strings.Repeat("query ", 100)
	scores, err := m.Score(t.Context(), query, []string{"one", "another"})
	if err != nil {
		t.Fatal(err)
	}
	if scores[0] == scores[1] {
		t.Error("a long query hides the texts")
	}
	longer, err := m.Score(t.Context(), query+"and more", []string{"one", "another"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scores, longer); diff != "" {
		t.Errorf("the end of a query beyond half of the window counts (-query +longer):\n%s", diff)
	}
}

// TestThePresetsReferencesHold checks the table of presets against the model that is at hand.
func TestThePresetsReferencesHold(t *testing.T) {
	dir := testdata.Shared(t, "models", "all-minilm-l6-v2")
	card, ok := modelhub.Named("all-minilm-l6")
	if !ok || len(card.Checks) == 0 {
		t.Fatal("the preset has no references")
	}
	m, err := modelrun.Open(card, dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
