package defaults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// Every number among the settings of every provider has a most: a slip of the keyboard is told, not obeyed.
func TestEverySettingHasARange(t *testing.T) {
	t.Run("loaders", func(t *testing.T) { everySetting(t, &rag.Default.Loaders) })
	t.Run("ocr", func(t *testing.T) { everySetting(t, &rag.Default.OCRs) })
	t.Run("splitters", func(t *testing.T) { everySetting(t, &rag.Default.Splitters) })
	t.Run("transforms", func(t *testing.T) { everySetting(t, &rag.Default.Transformers) })
	t.Run("embedders", func(t *testing.T) { everySetting(t, &rag.Default.Embedders) })
	t.Run("embed_caches", func(t *testing.T) { everySetting(t, &rag.Default.EmbedCaches) })
	t.Run("llm", func(t *testing.T) { everySetting(t, &rag.Default.ChatModels) })
	t.Run("vector_stores", func(t *testing.T) { everySetting(t, &rag.Default.VectorStores) })
	t.Run("sparse_indexes", func(t *testing.T) { everySetting(t, &rag.Default.SparseIndexes) })
	t.Run("fusion", func(t *testing.T) { everySetting(t, &rag.Default.Fusers) })
	t.Run("rerank", func(t *testing.T) { everySetting(t, &rag.Default.Rerankers) })
	t.Run("verifiers", func(t *testing.T) { everySetting(t, &rag.Default.Verifiers) })
	t.Run("traces", func(t *testing.T) { everySetting(t, &rag.Default.TraceSinks) })
	t.Run("query_transforms", func(t *testing.T) { everySetting(t, &rag.Default.QueryTransformers) })
}

func everySetting[T any](t *testing.T, r *rag.Registry[T]) {
	env := rag.Env{Logger: slog.New(slog.DiscardHandler), Now: time.Now, Embedder: &ragtest.HashEmbedder{}, Chat: &ragtest.Script{}, Vision: &ragtest.Script{}}
	for _, name := range r.Names() {
		_, err := r.New(name, env, json.RawMessage(`{"no such key": 1}`))
		_, known, ok := strings.Cut(fmt.Sprint(err), "(known: ")
		if !ok {
			continue // it has no settings
		}
		keys := strings.Split(known[:strings.IndexByte(known, ')')], ", ")
		for _, key := range keys {
			env.Dir = t.TempDir()
			_, err := r.New(name, env, fmt.Appendf(nil, `{%q: 1000000000000000000}`, key))
			if wrong, ok := errors.AsType[*rag.ConfigError](err); key != anySize && (!ok || wrong.Key != key || !errors.Is(err, rag.ErrInvalid)) {
				t.Errorf("%s: %s of 10^18: error %v, want ErrInvalid with this key", name, key, err)
			}
		}
	}
}

// anySize is the setting that may be any number.
const anySize = "seed"
