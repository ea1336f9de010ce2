package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/rerank/local"
)

// small is a cross-encoder with random weights: it knows nothing, and is the same in each test. This seed happens to
// prefer the text that answers the question of the conformance suite.
var small = modeltest.Shape{Scores: true, Seed: 1}

func open(t testing.TB, c local.Config) *local.Reranker {
	t.Helper()
	if c.Model == "" {
		c.Model = t.TempDir()
		modeltest.Write(t, c.Model, small)
	}
	r, err := local.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustRerank(t testing.TB, r *local.Reranker, query string, texts ...string) []float64 {
	t.Helper()
	scores, err := r.Rerank(t.Context(), query, texts)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

func TestConformance(t *testing.T) {
	ragtest.TestReranker(t, func(t *testing.T) rag.Reranker { return open(t, local.Config{}) })
}

func TestLanguages(t *testing.T) {
	if got := open(t, local.Config{}).RerankModel().Languages; got != nil {
		t.Errorf("a folder of which nothing is said knows %q", got)
	}
	if got := open(t, local.Config{Languages: []string{"de"}}).RerankModel().Languages; !cmp.Equal(got, []string{"de"}) {
		t.Errorf("a folder that is said to know German knows %q", got)
	}
	models := t.TempDir()
	shape := small
	shape.Positions = 512
	modeltest.Write(t, filepath.Join(models, "ms-marco-minilm-l6"), shape)
	if got := open(t, local.Config{Model: "ms-marco-minilm-l6", ModelDir: models}).RerankModel().Languages; !cmp.Equal(got, []string{"en"}) {
		t.Errorf("the English preset knows %q", got)
	}
	_, err := local.New(local.Config{Model: "ms-marco-minilm-l6", ModelDir: models, Languages: []string{"de"}})
	if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "languages") {
		t.Errorf("languages of a preset: %v", err)
	}
}

func TestAScoreDependsOnItsPairAlone(t *testing.T) {
	r := open(t, local.Config{CacheSize: -1})
	texts := []string{"one", strings.Repeat("a longer text ", 40), "", "two words", "one"}
	together := mustRerank(t, r, "query", texts...)
	for i, text := range texts {
		if alone := mustRerank(t, r, "query", text); alone[0] != together[i] {
			t.Errorf("%.20q: %v alone, %v among others", text, alone[0], together[i])
		}
	}
}

func TestTheEngineIsToldTheWindow(t *testing.T) {
	r := open(t, local.Config{MaxTokens: 32})
	if m := r.RerankModel(); m.MaxTokens != 32 || m.Name != r.Fingerprint() || m.Listwise {
		t.Errorf("described as %+v", m)
	}
	if n := r.CountTokens("ab cd"); n != 4 { // a token a letter
		t.Errorf("counted %d tokens, want 4", n)
	}
}

func TestOnlyTheTextIsCut(t *testing.T) {
	r := open(t, local.Config{MaxTokens: 32, CacheSize: -1})
	// A token a letter: the pair has 3 special tokens and 8 of the query, so 21 of the text are seen.
	seen := strings.Repeat("x", 21)
	scores := mustRerank(t, r, "ab cd ef gh", seen, seen+"yz", seen[:20]+"y", "z"+seen[:20])
	if scores[0] != scores[1] {
		t.Errorf("what lies beyond the window changed the score from %v to %v", scores[0], scores[1])
	}
	if scores[0] == scores[2] || scores[0] == scores[3] {
		t.Errorf("scores %v: other texts within the window have the same", scores)
	}
	if other := mustRerank(t, r, "ab cd ef gi", seen); other[0] == scores[0] {
		t.Error("the query's last letter was cut off")
	}
}

func TestScoresAreTheSameWithAndWithoutACache(t *testing.T) {
	dir := t.TempDir()
	modeltest.Write(t, dir, small)
	want := mustRerank(t, open(t, local.Config{Model: dir, CacheSize: -1}), "query", "a", "b", "a", "c")
	r := open(t, local.Config{Model: dir, CacheSize: 2})
	for range 2 {
		if diff := cmp.Diff(want, mustRerank(t, r, "query", "a", "b", "a", "c")); diff != "" {
			t.Errorf("(-without +with):\n%s", diff)
		}
	}
}

func TestRerankEndsWithItsContext(t *testing.T) {
	r := open(t, local.Config{})
	texts := make([]string, 200)
	for i := range texts {
		texts[i] = fmt.Sprint(strings.Repeat("long text ", 30), i)
	}
	mustRerank(t, r, "load", "the model")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Rerank(ctx, "query", texts)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	mustRerank(t, r, "query", texts[0])
}

func TestRegistered(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", modelhub.DirVariable} {
		t.Setenv(name, t.TempDir())
	}
	dir, embedder := t.TempDir(), t.TempDir()
	modeltest.Write(t, filepath.Join(dir, "mine"), small)
	modeltest.Write(t, embedder, modeltest.Shape{})
	for _, tt := range []struct {
		name     string
		settings map[string]any
		want     error
		text     string
	}{
		{"the default model, which is not there", nil, rag.ErrNotFound, "rag models pull ms-marco-minilm-l6"},
		{"a folder", map[string]any{"model": filepath.Join(dir, "mine"), "threads": 1, "max_tokens": 64, "cache_size": 10}, nil, ""},
		{"a misspelt model", map[string]any{"model": "ms-marco-minilm-l7"}, rag.ErrInvalid, `did you mean "ms-marco-minilm-l6"?`},
		{"an embedding model", map[string]any{"model": "bge-small-en"}, rag.ErrInvalid, "under embedder"},
		{"an embedding model in a folder", map[string]any{"model": embedder}, rag.ErrInvalid, "under embedder"},
		{"a known shape that cannot be run", map[string]any{"model": "BAAI/bge-reranker-v2-m3"}, rag.ErrUnsupported, "bge-reranker-base"},
		{"negative threads", map[string]any{"threads": -1}, rag.ErrInvalid, "threads"},
		{"a window too small", map[string]any{"max_tokens": 5}, rag.ErrInvalid, "max_tokens"},
		{"an unknown setting", map[string]any{"modell": "x"}, rag.ErrInvalid, "modell"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var raw json.RawMessage
			if tt.settings != nil {
				var err error
				if raw, err = json.Marshal(tt.settings); err != nil {
					t.Fatal(err)
				}
			}
			_, err := rag.Default.Rerankers.New("local", rag.Env{}, raw)
			if !errors.Is(err, tt.want) || (err != nil && !strings.Contains(err.Error(), tt.text)) {
				t.Errorf("got error %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestAModelThatIsNotThePresetIsRefused(t *testing.T) {
	dir := t.TempDir()
	modeltest.Write(t, filepath.Join(dir, "ms-marco-minilm-l6"), modeltest.Shape{Scores: true, Positions: 512})
	r, err := local.New(local.Config{ModelDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rerank(t.Context(), "query", []string{"text"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "not as published") {
		t.Errorf("got error %v, want one that says it is not as published", err)
	}
}

func TestFingerprintNamesTheModel(t *testing.T) {
	dir := t.TempDir()
	modeltest.Write(t, dir, small)
	first := open(t, local.Config{Model: dir}).Fingerprint()
	if again := open(t, local.Config{Model: dir}).Fingerprint(); again != first {
		t.Errorf("fingerprints %s and %s of the same model", first, again)
	}
	if narrow := open(t, local.Config{Model: dir, MaxTokens: 64}).Fingerprint(); narrow == first {
		t.Errorf("another window has the same fingerprint %s", first)
	}
}

// BenchmarkTenPairs scores ten pairs of 128 tokens in the shape of MiniLM-L6.
func BenchmarkTenPairs(b *testing.B) {
	dir := b.TempDir()
	modeltest.Write(b, dir, modeltest.Shape{Scores: true, Layers: 6, Hidden: 384, Heads: 12, FeedForward: 1536, Positions: 512})
	r := open(b, local.Config{Model: dir, MaxTokens: 128, CacheSize: -1})
	texts := make([]string, 10)
	for i := range texts {
		texts[i] = fmt.Sprint(i, strings.Repeat("x", 99), strings.Repeat(" y", 99)) // a token a letter
	}
	const query = "q u e r y o f t e n"
	mustRerank(b, r, query, texts[0]) // loads the model
	for b.Loop() {
		mustRerank(b, r, query, texts...)
	}
}
