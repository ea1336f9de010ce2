package defaults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

// Every number among the settings of every provider, and of every section, has a range of its own: a slip of the keyboard is
// told, not obeyed, and so is a zero that would be another number.
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
	t.Run("agent", func(t *testing.T) {
		ranges(t, "", func(raw string) error { _, err := agent.ParseConfig(json.RawMessage(raw)); return err }, "agent.")
	})
	t.Run("evaluation", func(t *testing.T) {
		ranges(t, "", func(raw string) error { _, err := eval.ParseSettings(json.RawMessage(raw)); return err }, "evaluation.")
	})
	t.Run("rag.yaml", func(t *testing.T) {
		ranges(t, "", func(raw string) error { return rag.DecodeSettings(json.RawMessage(raw), &rag.Config{}) }, "")
	})
}

func everySetting[T any](t *testing.T, r *rag.Registry[T]) {
	for _, name := range r.Names() {
		t.Run(name, func(t *testing.T) {
			ranges(t, "", func(raw string) error {
				env := rag.Env{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Now: time.Now, Embedder: &ragtest.HashEmbedder{}, Chat: &ragtest.Script{}, Vision: &ragtest.Script{}}
				_, err := r.New(name, env, json.RawMessage(raw))
				return err
			}, "")
		})
	}
}

var interval = regexp.MustCompile(`want a (?:whole )?number (?:from|above) (\S+?),? (?:to|at most) (\S+?)( but not 0)?, got`)

// ranges asks for each key what is wanted there, by a key that nobody has and by values of no kind, and gives numbers around
// the interval that the answer names. path is where the keys are in the settings, with a "0" for each list.
func ranges(t *testing.T, path string, read func(raw string) error, section string) {
	t.Helper()
	put := func(key, value string) string { return at(path, fmt.Sprintf("{%q: %s}", key, value)) }
	_, known, ok := strings.Cut(fmt.Sprint(read(put("no such key", "1"))), "(known: ")
	if !ok {
		return // it has no settings, or anyone's
	}
	for key := range strings.SplitSeq(known[:strings.IndexByte(known, ')')], ", ") {
		place := strings.TrimPrefix(path+"."+key, ".")
		said := fmt.Sprint(read(put(key, `"a text that is no setting"`)))
		switch {
		case strings.Contains(said, "want keys and values"):
			ranges(t, place, read, section)
			continue
		case strings.Contains(said, "want a list"):
			ranges(t, place+".0", read, section)
			continue
		case !strings.Contains(said, "want a whole number") && !strings.Contains(said, "want a number"), strings.Contains(said, "that is not negative, got"):
			continue
		}
		found := interval.FindStringSubmatch(said)
		if found == nil {
			t.Errorf("%s: a number without a range: %s", place, said)
			continue
		}
		least, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		wrong := []string{"-1000000000000000000", fmt.Sprint(int64(least) - 1)}
		if least > 0 || strings.Contains(said, "above 0") || found[3] != "" {
			wrong = append(wrong, "0")
		}
		for _, number := range wrong {
			err := read(put(key, number))
			if wrong, ok := errors.AsType[*rag.ConfigError](err); !ok || wrong.Key != section+place || !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("%s of %s: error %v, want ErrInvalid with this key", place, number, err)
			}
		}
	}
}

// at puts settings at a path.
func at(path, settings string) string {
	if path == "" {
		return settings
	}
	parts := strings.Split(path, ".")
	for _, part := range slices.Backward(parts) {
		if part == "0" {
			settings = "[" + settings + "]"
		} else {
			settings = fmt.Sprintf("{%q: %s}", part, settings)
		}
	}
	return settings
}

// A setting that is one of a list of names says under its key what is allowed.
func TestNamesOfSettings(t *testing.T) {
	unknown := func(t *testing.T, err error, key string) {
		t.Helper()
		wrong, ok := errors.AsType[*rag.ConfigError](err)
		if !ok || wrong.Key != key || !strings.Contains(err.Error(), `"no such name" is none`) || !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid with this key and what is known", key, err)
		}
	}
	env := rag.Env{Logger: slog.New(slog.DiscardHandler), Now: time.Now, Embedder: &ragtest.HashEmbedder{}, Chat: &ragtest.Script{}}
	d := rag.Default
	for _, tt := range []struct {
		provider, key, others string
		read                  func(name string, env rag.Env, settings json.RawMessage) error
	}{
		{"recursive", "unit", "", reader(&d.Splitters)},
		{"fixed", "unit", "", reader(&d.Splitters)},
		{"context", "mode", "", reader(&d.Transformers)},
		{"refine", "mode", "", reader(&d.Transformers)},
		{"enrich", "mode", "", reader(&d.Transformers)},
		{"decompose", "mode", "", reader(&d.QueryTransformers)},
		{"history", "mode", "", reader(&d.QueryTransformers)},
		{"llm", "mode", "", reader(&d.Rerankers)},
		{"http", "style", `, "url": "http://127.0.0.1/rerank", "model": "m"`, reader(&d.Rerankers)},
		{"local", "pooling", `, "model": "./no-such-folder"`, reader(&d.Embedders)},
		{"hnsw", "quantization", "", reader(&d.VectorStores)},
		{"weaviate", "consistency", "", reader(&d.VectorStores)},
		{"text", "encoding", "", reader(&d.Loaders)},
		{"csv", "encoding", "", reader(&d.Loaders)},
	} {
		unknown(t, tt.read(tt.provider, env, fmt.Appendf(nil, `{%q: "no such name"%s}`, tt.key, tt.others)), tt.key)
	}
	for key, raw := range map[string]string{
		"protocol": `{"protocol": "no such name"}`, "labels": `{"labels": "no such name"}`,
		"custom_labels.1.action": `{"custom_labels": [{"name": "a"}, {"name": "b", "action": "no such name"}]}`,
	} {
		_, err := agent.ParseConfig(json.RawMessage(raw))
		unknown(t, err, "agent."+key)
	}
	for key, raw := range map[string]string{
		"provider": `{"provider": "no such name"}`, "backends.1": `{"backends": ["overlap", "no such name"]}`,
		"metrics.1": `{"metrics": ["ndcg@10", "no such name"]}`,
	} {
		_, err := eval.ParseSettings(json.RawMessage(raw))
		unknown(t, err, "evaluation."+key)
	}
	config := rag.DefaultConfig()
	config.Trace.Settings = json.RawMessage(`{"detail": "no such name"}`)
	_, err := rag.Open(t.TempDir(), rag.WithConfig(config))
	unknown(t, err, "trace.detail")
}

func reader[T any](r *rag.Registry[T]) func(string, rag.Env, json.RawMessage) error {
	return func(name string, env rag.Env, settings json.RawMessage) error {
		_, err := r.New(name, env, settings)
		return err
	}
}
