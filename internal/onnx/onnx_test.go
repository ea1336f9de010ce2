package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
	"github.com/seed-d8745b77/rag/internal/onnx"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
)

// folder writes a small model of random weights and returns its folder with the safetensors, and that with ONNX.
func folder(t *testing.T, shape modeltest.Shape, o onnxtest.Options) (plain, converted string) {
	t.Helper()
	plain, converted = t.TempDir(), t.TempDir()
	modeltest.Write(t, plain, shape)
	onnxtest.Write(t, plain, converted, o)
	return plain, converted
}

func open(t *testing.T, c onnx.Config) *onnx.Model {
	t.Helper()
	m, err := onnx.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// sequence makes a sequence of n letters between special tokens.
func sequence(t *testing.T, m *onnx.Model, n int) onnx.Sequence {
	t.Helper()
	letters := make([]string, n)
	for i := range letters {
		letters[i] = string(rune('a' + (i*i+n)%26))
	}
	ids, _, err := m.Tokens().Encode(strings.Join(letters, " "), m.Window())
	if err != nil {
		t.Fatal(err)
	}
	return onnx.Sequence{IDs: ids}
}

func TestOutputsAreTheEncoders(t *testing.T) {
	const tolerance = 1e-4
	lengths := []int{1, 2, 30, 31, 62, 63, 100, 126}
	t.Run("vectors of tokens", func(t *testing.T) {
		plain, converted := folder(t, modeltest.Shape{Seed: 1}, onnxtest.Options{})
		m := open(t, onnx.Config{Dir: converted})
		if !m.PerToken() || m.Window() != 128 || m.Width() != 32 {
			t.Errorf("per token %t, window %d, width %d; want true, 128, 32", m.PerToken(), m.Window(), m.Width())
		}
		ours, err := encoder.LoadDir(plain, encoder.Options{Pooling: encoder.PoolingCLS, Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		var sequences []onnx.Sequence
		var ids [][]int32
		for _, n := range lengths {
			s := sequence(t, m, n)
			sequences, ids = append(sequences, s), append(ids, s.IDs)
		}
		got, err := m.Run(t.Context(), sequences)
		if err != nil {
			t.Fatal(err)
		}
		want, err := encoder.NewRunner(ours, 1).Embed(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if len(got[i]) != len(ids[i]) {
				t.Errorf("%d rows for %d tokens", len(got[i]), len(ids[i]))
			}
			if d := distance(got[i][0], want[i]); d > tolerance {
				t.Errorf("%d tokens: the first vector differs by %g", len(ids[i]), d)
			}
		}
	})
	t.Run("logits of pairs", func(t *testing.T) {
		plain, converted := folder(t, modeltest.Shape{Scores: true, Seed: 2}, onnxtest.Options{})
		m := open(t, onnx.Config{Dir: converted})
		ours, err := encoder.LoadDir(plain, encoder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sequences []onnx.Sequence
		var pairs []encoder.Pair
		for _, n := range lengths {
			ids, types, cut, err := m.Tokens().EncodePair("which letter?", strings.Repeat("a ", n), m.Window())
			if err != nil || cut != (n > 100) {
				t.Fatalf("%d letters: cut %t, error %v", n, cut, err)
			}
			sequences, pairs = append(sequences, onnx.Sequence{IDs: ids, Types: types}), append(pairs, encoder.Pair{IDs: ids, Types: types})
		}
		got, err := m.Run(t.Context(), sequences)
		if err != nil {
			t.Fatal(err)
		}
		want, err := encoder.NewRunner(ours, 1).Score(t.Context(), pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if d := distance(got[i][0], want[i:i+1]); d > tolerance {
				t.Errorf("%d tokens: the logit differs by %g", len(pairs[i].IDs), d)
			}
		}
	})
}

func TestRowsDoNotDependOnTheBatch(t *testing.T) {
	const tolerance = 1e-5
	_, dir := folder(t, modeltest.Shape{Seed: 3}, onnxtest.Options{})
	m := open(t, onnx.Config{Dir: dir})
	var sequences []onnx.Sequence
	for i := range 19 { // two full batches of short ones, and some that are alone
		sequences = append(sequences, sequence(t, m, 1+i*i%29))
	}
	sequences = append(sequences, sequence(t, m, 120))
	together, err := m.Run(t.Context(), sequences)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sequences {
		alone, err := m.Run(t.Context(), []onnx.Sequence{s})
		if err != nil {
			t.Fatal(err)
		}
		for j := range alone[0] {
			if d := distance(alone[0][j], together[i][j]); d > tolerance {
				t.Fatalf("sequence %d, token %d: differs by %g", i, j, d)
			}
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	_, dir := folder(t, modeltest.Shape{Seed: 4}, onnxtest.Options{})
	m := open(t, onnx.Config{Dir: dir})
	want, err := m.Run(t.Context(), []onnx.Sequence{sequence(t, m, 7)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		s := sequence(t, m, 7)
		wg.Go(func() {
			got, err := m.Run(t.Context(), []onnx.Sequence{s})
			if err != nil || distance(got[0][0], want[0][0]) != 0 {
				t.Errorf("error %v, or another vector than alone", err)
			}
		})
	}
	wg.Wait()
}

func TestRunRefuses(t *testing.T) {
	_, dir := folder(t, modeltest.Shape{}, onnxtest.Options{})
	m := open(t, onnx.Config{Dir: dir, MaxTokens: 16})
	for name, s := range map[string]onnx.Sequence{
		"no tokens":       {},
		"too many tokens": {IDs: make([]int32, 17)},
		"types amiss":     {IDs: make([]int32, 4), Types: make([]int32, 3)},
	} {
		if _, err := m.Run(t.Context(), []onnx.Sequence{s}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Run(ctx, []onnx.Sequence{sequence(t, m, 3)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Run(t.Context(), []onnx.Sequence{sequence(t, m, 3)}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("closed: error %v", err)
	}
}

func TestOpenTakes(t *testing.T) {
	for name, o := range map[string]onnxtest.Options{
		"axes of one name":        {BatchAxis: "batch", SequenceAxis: "batch"},
		"axes of unusual names":   {BatchAxis: "N", SequenceAxis: "T"},
		"an operation in between": {Op: "Identity"},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := folder(t, modeltest.Shape{}, o)
			open(t, onnx.Config{Dir: dir})
		})
	}
	t.Run("a named file and output", func(t *testing.T) {
		_, dir := folder(t, modeltest.Shape{}, onnxtest.Options{})
		must(t, os.Rename(filepath.Join(dir, "model.onnx"), filepath.Join(dir, "other.onnx")))
		open(t, onnx.Config{Dir: dir, File: "other.onnx", Output: onnxtest.OutputTokens})
		open(t, onnx.Config{Dir: dir})
	})
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name    string
		options onnxtest.Options
		config  onnx.Config
		spoil   func(t *testing.T, dir string)
		kind    error // nil: any
		says    string
	}{
		{name: "positions", options: onnxtest.Options{Input: "position_ids"}, kind: onnx.ErrUnsupported, says: "position_ids"},
		{name: "another input", options: onnxtest.Options{Input: "pixel_values"}, kind: onnx.ErrUnsupported, says: "pixel_values"},
		{name: "an unknown output", config: onnx.Config{Output: "vectors"}, says: onnxtest.OutputTokens},
		{name: "no file of that name", config: onnx.Config{File: "absent.onnx"}, kind: fs.ErrNotExist, says: "absent.onnx"},
		{name: "a file elsewhere", config: onnx.Config{File: "../model.onnx"}, says: "not in the model's folder"},
		{name: "a window beyond the positions", config: onnx.Config{MaxTokens: 129}, says: "128"},
		{name: "a negative window", config: onnx.Config{MaxTokens: -1}, says: "-1"},
		{name: "no model", spoil: remove("model.onnx"), kind: fs.ErrNotExist, says: ".onnx"},
		{name: "no tokenizer", spoil: remove("tokenizer.json"), kind: fs.ErrNotExist, says: "tokenizer.json"},
		{name: "two models", spoil: func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "model.onnx"), filepath.Join(dir, "a.onnx")))
			must(t, os.WriteFile(filepath.Join(dir, "b.onnx"), nil, 0o644))
		}, says: "a.onnx, b.onnx"},
		{name: "a broken model", spoil: overwrite("model.onnx", "no protocol buffer"), kind: onnx.ErrUnsupported, says: "model.onnx"},
		{name: "a broken tokenizer", spoil: overwrite("tokenizer.json", "{"), says: "tokenizer.json"},
		{name: "a broken config", spoil: overwrite("config.json", "{"), says: "config.json"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, dir := folder(t, modeltest.Shape{}, c.options)
			if c.spoil != nil {
				c.spoil(t, dir)
			}
			c.config.Dir = dir
			m, err := onnx.Open(c.config)
			if err == nil {
				t.Fatal("no error", m.Close())
			}
			if !strings.Contains(err.Error(), c.says) || (c.kind != nil && !errors.Is(err, c.kind)) {
				t.Errorf("got %v, want it to say %q and to wrap %v", err, c.says, c.kind)
			}
		})
	}
}

func TestDigestTellsFilesApart(t *testing.T) {
	_, a := folder(t, modeltest.Shape{Seed: 1}, onnxtest.Options{})
	_, b := folder(t, modeltest.Shape{Seed: 2}, onnxtest.Options{})
	digests := map[string]bool{}
	for _, dir := range []string{a, a, b} {
		digests[open(t, onnx.Config{Dir: dir}).Digest()] = true
	}
	if len(digests) != 2 {
		t.Errorf("%d digests of two models", len(digests))
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		config string
		asked  int
		want   int
	}{
		{`{"model_type": "bert", "max_position_embeddings": 128}`, 0, 128},
		{`{"model_type": "bert", "max_position_embeddings": 128}`, 40, 40},
		{`{"model_type": "xlm-roberta", "max_position_embeddings": 128}`, 0, 126},
		{`{}`, 0, 512},
		{`{}`, 40, 40},
		{``, 0, 512},
		{``, 40, 40},
	} {
		t.Run(fmt.Sprintf("%s asked %d", c.config, c.asked), func(t *testing.T) {
			_, dir := folder(t, modeltest.Shape{}, onnxtest.Options{})
			must(t, os.Remove(filepath.Join(dir, "config.json")))
			if c.config != "" {
				must(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o644))
			}
			if got := open(t, onnx.Config{Dir: dir, MaxTokens: c.asked}).Window(); got != c.want {
				t.Errorf("window %d, want %d", got, c.want)
			}
		})
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
}

func overwrite(name, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// distance is the largest difference of a component.
func distance(a, b []float32) float64 {
	var d float64
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}
