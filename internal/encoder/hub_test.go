package encoder

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// tinyHub is the config.json of tinyConfig.
func tinyHub(changes map[string]any) map[string]any {
	c := map[string]any{
		"model_type": "bert", "architectures": []string{"BertModel"}, "hidden_act": "gelu",
		"num_hidden_layers": tinyConfig.Layers, "hidden_size": tinyConfig.Hidden, "num_attention_heads": tinyConfig.Heads,
		"intermediate_size": tinyConfig.FeedForward, "vocab_size": tinyConfig.Vocabulary,
		"max_position_embeddings": tinyConfig.Positions, "type_vocab_size": tinyConfig.Types, "layer_norm_eps": tinyConfig.Epsilon,
	}
	maps.Copy(c, changes)
	return c
}

// bert and xlmR make an embedding model of each architecture, bertScores and xlmRScores a cross-encoder.
var (
	bert       = map[string]any{}
	bertScores = map[string]any{"architectures": []string{"BertForSequenceClassification"}, "id2label": map[string]string{"0": "LABEL_0"}}
	xlmR       = map[string]any{"model_type": "xlm-roberta", "max_position_embeddings": tinyConfig.Positions + 2, "type_vocab_size": 1, "pad_token_id": 1}
	xlmRScores = map[string]any{
		"model_type": "xlm-roberta", "max_position_embeddings": tinyConfig.Positions + 2, "type_vocab_size": 1,
		"architectures": []string{"XLMRobertaForSequenceClassification"}, "id2label": map[string]string{"0": "LABEL_0"},
	}
)

// hubFolder writes a model with random weights as the hubs have it, and returns its folder.
func hubFolder(t testing.TB, changes map[string]any, prefix, dtype string) string {
	t.Helper()
	dir := t.TempDir()
	writeJSON(t, filepath.Join(dir, configFile), tinyHub(changes))
	config, err := ReadConfig(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]any{"position_ids": entry("I64", []int{1}, 0, 8)}
	data := make([]byte, 8)
	for _, tensor := range tinyTensors(config) {
		from := len(data)
		for _, v := range tensor.Values {
			switch dtype {
			case "F32":
				data = appendFloats(data, v)
			case "F16":
				data = binary.LittleEndian.AppendUint16(data, halfBits(v))
			case "BF16":
				data = binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(v)>>16))
			}
		}
		shape := []int{tensor.Rows, tensor.Cols}
		if tensor.Rows == 1 && !strings.Contains(tensor.Name, "token_type") && !strings.HasSuffix(tensor.Name, "out_proj.weight") {
			shape = shape[1:]
		}
		name := tensor.Name
		if !strings.HasPrefix(name, "classifier") {
			name = prefix + name
		}
		entries[name] = entry(dtype, shape, from, len(data))
	}
	if err := os.WriteFile(filepath.Join(dir, safetensorsFile), safetensors(t, entries, data), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeJSON(t testing.TB, name string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// textbook reads the weights of a folder for the reference.
func textbook(t testing.TB, dir string) reference {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, safetensorsFile))
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := ReadSafetensors(raw)
	if err != nil {
		t.Fatal(err)
	}
	w := reference{}
	for _, tensor := range tensors {
		w[tensor.Name] = tensor
	}
	return w
}

func TestModelsOfTheHubsGiveTheTextbooksVectors(t *testing.T) {
	for name, c := range map[string]struct {
		config        map[string]any
		prefix, dtype string
		options       Options
		want          Config // what differs from tinyConfig
	}{
		"bert":             {bert, "", "F32", Options{}, Config{}},
		"bert, cls":        {bert, "bert.", "F32", Options{Pooling: PoolingCLS}, Config{Pooling: PoolingCLS}},
		"bert, raw":        {bert, "encoder.", "F32", Options{Raw: true}, Config{Raw: true}},
		"bert of float16":  {bert, "model.bert.", "F16", Options{}, Config{}},
		"bert of bfloat16": {bert, "", "BF16", Options{}, Config{}},
		"xlm-r":            {xlmR, "roberta.", "F32", Options{}, Config{Architecture: ArchitectureRoBERTa, FirstPosition: 2, Types: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hubFolder(t, c.config, c.prefix, c.dtype)
			w := textbook(t, dir)
			for _, k := range simd.Available() {
				m, err := loadDir(dir, c.options, k)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(with(tinyConfig, c.want), m.Config()); diff != "" {
					t.Errorf("config (-want +got):\n%s", diff)
				}
				for n := 1; n <= tinyConfig.Positions; n += 3 {
					ids := sequence(n, n)
					got, err := NewRunner(m, 1).Embed(t.Context(), [][]int32{ids})
					if err != nil {
						t.Fatal(err)
					}
					if d := farthest(got[0], w.vector(m.Config(), ids)); !(d < 1e-5) {
						t.Errorf("kernel %s, %d tokens: a component is off by %g", k.Name, n, d)
					}
				}
			}
		})
	}
}

// with returns c with the fields of changes that are not zero.
func with(c, changes Config) Config {
	raw, err := json.Marshal(changes)
	if err != nil {
		panic(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		panic(err)
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == "" || v == 0.0 })
	if raw, err = json.Marshal(fields); err != nil {
		panic(err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		panic(err)
	}
	return c
}

func TestCrossEncodersOfTheHubsGiveTheTextbooksScores(t *testing.T) {
	for name, c := range map[string]struct {
		config map[string]any
		prefix string
		types  int
	}{
		"bert":  {bertScores, "bert.", 2},
		"xlm-r": {xlmRScores, "roberta.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hubFolder(t, c.config, c.prefix, "F32")
			m, err := LoadDir(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			w := textbook(t, dir)
			var pairs []Pair
			for n := 1; n <= tinyConfig.Positions; n++ {
				p := Pair{IDs: sequence(n, n), Types: make([]int32, n)}
				for i := n / 3; i < n; i++ {
					p.Types[i] = int32(c.types - 1)
				}
				pairs = append(pairs, p)
			}
			got, err := NewRunner(m, 2).Score(t.Context(), pairs)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range pairs {
				if d := math.Abs(float64(got[i]) - w.score(m.Config(), p)); !(d < 1e-4) {
					t.Errorf("%d tokens: off by %g", len(p.IDs), d)
				}
			}
			if _, err := NewRunner(m, 1).Embed(t.Context(), [][]int32{{1}}); err == nil {
				t.Error("a cross-encoder gave a vector")
			}
		})
	}
}

func TestOtherKindsOfModelsAreRefused(t *testing.T) {
	for name, changes := range map[string]map[string]any{
		"distilbert":         {"model_type": "distilbert"},
		"no type":            {"model_type": ""},
		"another activation": {"hidden_act": "gelu_new"},
		"relative positions": {"position_embedding_type": "relative_key"},
		"small heads":        {"num_attention_heads": 8},
		"uneven heads":       {"num_attention_heads": 5},
		"many labels":        {"architectures": []string{"BertForSequenceClassification"}, "id2label": map[string]string{"0": "a", "1": "b", "2": "c"}},
		"unknown labels":     {"architectures": []string{"BertForSequenceClassification"}},
	} {
		dir := t.TempDir()
		writeJSON(t, filepath.Join(dir, configFile), tinyHub(changes))
		_, err := LoadDir(dir, Options{})
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got error %v, want ErrUnsupported", name, err)
			continue
		}
		if !strings.Contains(err.Error(), "supported") {
			t.Errorf("%s: %v does not say what is supported", name, err)
		}
	}
}

func TestPoolingIsThatOfTheFolder(t *testing.T) {
	dir := hubFolder(t, bert, "", "F32")
	write := func(cls, mean bool) {
		writeJSON(t, filepath.Join(dir, filepath.FromSlash(poolingFile)), map[string]bool{"pooling_mode_cls_token": cls, "pooling_mode_mean_tokens": mean})
	}
	write(true, false)
	if c, err := ReadConfig(dir, Options{}); err != nil || c.Pooling != PoolingCLS {
		t.Errorf("got %q, %v, want the folder's %q", c.Pooling, err, PoolingCLS)
	}
	if c, err := ReadConfig(dir, Options{Pooling: PoolingMean}); err != nil || c.Pooling != PoolingMean {
		t.Errorf("got %q, %v, want what was asked for, %q", c.Pooling, err, PoolingMean)
	}
	if _, err := ReadConfig(dir, Options{Pooling: "max"}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("pooling max: got error %v, want ErrUnsupported", err)
	}
	write(false, false)
	if _, err := ReadConfig(dir, Options{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another pooling: got error %v, want ErrUnsupported", err)
	}
}

func TestLoadDirPrefersTheContainer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, containerFile), tinyFile(t, int8s), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := LoadDir(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewRunner(m, 1).Embed(t.Context(), [][]int32{{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := NewRunner(tinyModel(t, int8s, simd.Fastest()), 1).Embed(t.Context(), [][]int32{{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mapped file (-from memory +mapped):\n%s", diff)
	}
}

func TestLoadDirSaysWhatIsMissing(t *testing.T) {
	if _, err := LoadDir(t.TempDir(), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder: got error %v, want ErrNotExist", err)
	}
	dir := hubFolder(t, bert, "", "F32")
	if err := os.Truncate(filepath.Join(dir, safetensorsFile), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDir(dir, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("empty file: got error %v, want ErrFormat", err)
	}
	if err := os.Remove(filepath.Join(dir, safetensorsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDir(dir, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no weights: got error %v, want ErrNotExist", err)
	}
}

func TestCheckDirFindsWhatLoadingWould(t *testing.T) {
	for name, c := range map[string]struct {
		config map[string]any
		damage func(file []byte) []byte
		want   string // part of the message; "": no error
	}{
		"whole":                 {xlmRScores, func(file []byte) []byte { return file }, ""},
		"cut off":               {bert, func(file []byte) []byte { return file[:len(file)-4] }, "cut off"},
		"cut off in the header": {bert, func(file []byte) []byte { return file[:100] }, "in a file of 100"},
		"of four bytes":         {bert, func(file []byte) []byte { return file[:4] }, "of 4 bytes"},
		"without a tensor": {bert, func(file []byte) []byte {
			return bytes.Replace(file, []byte("layer.1.output.dense.bias"), []byte("layer.1.output.dense.bias"[:24]+"x"), 1)
		}, "there is no tensor encoder.layer.1.output.dense.bias"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hubFolder(t, c.config, "", "F32")
			path := filepath.Join(dir, safetensorsFile)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, checked := CheckDir(dir, Options{})
			_, loaded := LoadDir(dir, Options{})
			if (c.want == "") != (checked == nil) || (c.want != "" && !strings.Contains(checked.Error(), c.want)) {
				t.Errorf("got error %v, want one with %q", checked, c.want)
			}
			if (checked == nil) != (loaded == nil) || checked != nil && checked.Error() != loaded.Error() {
				t.Errorf("CheckDir says %v, LoadDir %v", checked, loaded)
			}
			if checked != nil && (!errors.Is(checked, ErrFormat) || strings.Count(checked.Error(), ErrFormat.Error()) != 1) {
				t.Errorf("%v: want ErrFormat, said once", checked)
			}
		})
	}
	dir := hubFolder(t, bert, "", "F32")
	writeJSON(t, filepath.Join(dir, configFile), tinyHub(map[string]any{"vocab_size": 51}))
	if _, err := CheckDir(dir, Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "want 51 x 64, have 50 x 64") {
		t.Errorf("another vocabulary: %v", err)
	}
}
