package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
)

// folder writes a model and returns its folder.
func folder(t *testing.T, s modeltest.Shape) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	modeltest.Write(t, dir, s)
	return dir
}

// alone points the user's folders to an empty one, so that no model of this machine is found.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", modelhub.DirVariable} {
		t.Setenv(name, t.TempDir())
	}
}

func TestFolderConformance(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	ragtest.TestEmbedder(t, func(t *testing.T) rag.Embedder {
		e, err := local.New(local.Config{Model: dir, Pooling: "cls", PassagePrefix: "passage: "})
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

func TestAFolderIsDescribedByItsCard(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	e, err := local.New(local.Config{
		Model: dir, Pooling: "mean", QuestionPrefix: "q: ", PassagePrefix: "abc: ", MaxTokens: 100, Languages: []string{"de"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := e.Model()
	if got.Revision == "" {
		t.Error("no revision")
	}
	want := rag.EmbedModel{
		Name: "mine", Revision: got.Revision, Dims: 32, MaxTokens: 100 - 4, MaxBatch: 64,
		QuestionPrefix: "q: ", PassagePrefix: "abc: ", Pooling: "mean", Languages: []string{"de"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	named, err := local.New(local.Config{Model: dir, Pooling: "mean", Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if named.Model().Name != "other" || named.Fingerprint() == e.Fingerprint() {
		t.Errorf("model %q with the fingerprint %s", named.Model().Name, named.Fingerprint())
	}
}

func TestPrefixesArePutBeforeTexts(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	plain, err := local.New(local.Config{Model: dir, Pooling: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	prefixed, err := local.New(local.Config{Model: dir, Pooling: "mean", QuestionPrefix: "q: ", PassagePrefix: "p: "})
	if err != nil {
		t.Fatal(err)
	}
	for role, prefix := range map[rag.EmbedRole]string{rag.AsQuestion: "q: ", rag.AsPassage: "p: "} {
		texts := []string{"text"}
		got, err := prefixed.Embed(t.Context(), role, texts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Embed(t.Context(), role, []string{prefix + "text"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || texts[0] != "text" {
			t.Errorf("as %s: the texts are now %q, vectors (-want +got):\n%s", role, texts, diff)
		}
	}
}

func TestTheFolderMaySayHowItPools(t *testing.T) {
	dir := folder(t, modeltest.Shape{})
	if _, err := local.New(local.Config{Model: dir}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "pooling") {
		t.Errorf("got error %v, want one that asks for the pooling", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "1_Pooling"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1_Pooling", "config.json"), []byte(`{"pooling_mode_cls_token": true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := local.New(local.Config{Model: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Model().Pooling; got != "cls" {
		t.Errorf("pooling %q, want what the folder says", got)
	}
}

func TestModelsThatCannotBeHad(t *testing.T) {
	alone(t)
	crossEncoder, plain := folder(t, modeltest.Shape{Scores: true}), folder(t, modeltest.Shape{})
	for _, tt := range []struct {
		name   string
		config local.Config
		want   error
		text   string
	}{
		{"a preset that was not pulled", local.Config{Model: "bge-small-en"}, rag.ErrNotFound, "rag models pull bge-small-en"},
		{"a repository that was not pulled", local.Config{Model: "BAAI/bge-small-en-v1.5"}, rag.ErrNotFound, "rag models pull bge-small-en"},
		{"no such folder", local.Config{Model: "./none", Pooling: "mean"}, rag.ErrNotFound, "none"},
		{"no such folder, nothing said of pooling", local.Config{Model: "./none"}, rag.ErrNotFound, "none"},
		{"a known shape that cannot be run", local.Config{Model: "bge-m3"}, rag.ErrUnsupported, "multilingual-e5-small"},
		{"a reranker", local.Config{Model: "ms-marco-minilm-l6"}, rag.ErrInvalid, "under rerank"},
		{"a cross-encoder in a folder", local.Config{Model: crossEncoder, Pooling: "mean"}, rag.ErrInvalid, "under rerank"},
		{"a card for a preset", local.Config{Model: "bge-small-en", Pooling: "mean", MaxTokens: 9}, rag.ErrInvalid, "pooling, max_tokens"},
		{"an unknown pooling", local.Config{Model: plain, Pooling: "max"}, rag.ErrInvalid, "cls"},
		{"a window too small", local.Config{Model: plain, Pooling: "mean", MaxTokens: 3}, rag.ErrInvalid, "max_tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := local.New(tt.config); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got error %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestAModelThatIsNotThePresetIsRefused(t *testing.T) {
	for _, name := range []string{"all-minilm-l6", "bge-small-en", "e5-small", "multilingual-e5-small"} {
		t.Run(name, func(t *testing.T) {
			// Another model of the preset's shape, in a folder that bears its name.
			modelDir := t.TempDir()
			modeltest.Write(t, filepath.Join(modelDir, name), modeltest.Shape{Layers: 1, Hidden: 384, Heads: 12, Positions: 512})
			e, err := local.New(local.Config{Model: name, ModelDir: modelDir})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := e.Embed(t.Context(), rag.AsPassage, []string{"text"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "not as published") {
					t.Errorf("got error %v, want one that says it is not as published", err)
				}
			}
			if err := e.Check(t.Context()); !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("Check gave %v, want ErrInvalid", err)
			}
		})
	}
}

// TestPublishedModelIsTheReference compares the published fp32 model with the same reference as the built-in one.
func TestPublishedModelIsTheReference(t *testing.T) {
	const least = 0.99995 // cosine
	dir, err := filepath.Abs(testdata.Shared(t, "models", "all-minilm-l6-v2"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := local.New(local.Config{Model: dir, Pooling: "mean", MaxTokens: 256})
	if err != nil {
		t.Fatal(err)
	}
	const fewer = 8 // fp32 takes longer, and modelrun checks the same model
	compare(t, e, fewer*referenceStep, least)
}
