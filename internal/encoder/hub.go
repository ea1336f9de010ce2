package encoder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag/internal/simd"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// Files of a model's folder.
const (
	configFile      = "config.json"
	poolingFile     = "1_Pooling/config.json" // of sentence-transformers
	safetensorsFile = "model.safetensors"
	containerFile   = "weights.bin" // see Write
)

// Options are what a model's folder may not say.
type Options struct {
	Pooling string // [PoolingMean] or [PoolingCLS]; "": what the folder says, else the mean
	Raw     bool   // vectors keep their length; false: they have length 1
}

// LoadDir loads the model of a folder: weights.bin (see [Write]) if there is one, else config.json and
// model.safetensors as the model hubs have them. The file is mapped into memory where the system can do so and read
// for as long as the model lives; it must not be changed in that time. Errors wrap [ErrFormat], for a model of another
// kind [ErrUnsupported], or are those of the file system.
func LoadDir(dir string, o Options) (*Model, error) { return loadDir(dir, o, simd.Fastest()) }

func loadDir(dir string, o Options, k simd.Kernels) (*Model, error) {
	name, open := containerFile, openWeights
	if _, err := os.Stat(filepath.Join(dir, containerFile)); errors.Is(err, fs.ErrNotExist) {
		config, err := ReadConfig(dir, o)
		if err != nil {
			return nil, err
		}
		name, open = safetensorsFile, func(file []byte) (*weights, error) { return openSafetensors(file, config) }
	}
	file, err := mapFile(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w, err := open(file.bytes)
	if err != nil {
		return nil, fmt.Errorf("read weights %s: %w", filepath.Join(dir, name), err)
	}
	w.file = file
	m, err := newModel(w, k)
	if err != nil {
		return nil, fmt.Errorf("read weights %s: %w", filepath.Join(dir, name), err)
	}
	return m, nil
}

// ReadConfig returns the shape of the model in a folder of a model hub, from its config.json and the description of
// its pooling. A model of a kind that is not supported is [ErrUnsupported].
func ReadConfig(dir string, o Options) (Config, error) {
	name := filepath.Join(dir, configFile)
	raw, err := os.ReadFile(name)
	if err != nil {
		return Config{}, fmt.Errorf("read model: %w", err)
	}
	c, err := parseConfig(raw)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	if c.Logits == 0 {
		c.Raw = o.Raw
		if c.Pooling, err = readPooling(dir, o.Pooling); err != nil {
			return Config{}, err
		}
	}
	if err := c.validate(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// parseConfig reads a config.json of Hugging Face transformers.
func parseConfig(raw []byte) (Config, error) {
	c := struct {
		Type          string            `json:"model_type"`
		Architectures []string          `json:"architectures"`
		Activation    string            `json:"hidden_act"`
		PositionType  string            `json:"position_embedding_type"`
		Layers        int               `json:"num_hidden_layers"`
		Hidden        int               `json:"hidden_size"`
		Heads         int               `json:"num_attention_heads"`
		FeedForward   int               `json:"intermediate_size"`
		Vocabulary    int               `json:"vocab_size"`
		Positions     int               `json:"max_position_embeddings"`
		Types         int               `json:"type_vocab_size"`
		Epsilon       float64           `json:"layer_norm_eps"`
		Padding       int               `json:"pad_token_id"`
		Labels        map[string]string `json:"id2label"`
	}{Activation: "gelu", Padding: -1}
	if err := strict.Unmarshal(raw, &c); err != nil {
		return Config{}, fmt.Errorf("%v: %w", err, ErrFormat)
	}
	if c.Activation != "gelu" {
		return Config{}, fmt.Errorf("activation %q, supported is \"gelu\": %w", c.Activation, ErrUnsupported)
	}
	if c.PositionType != "" && c.PositionType != "absolute" {
		return Config{}, fmt.Errorf("positions are %q, supported are \"absolute\" ones: %w", c.PositionType, ErrUnsupported)
	}
	out := Config{
		Architecture: c.Type, Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, FeedForward: c.FeedForward,
		Vocabulary: c.Vocabulary, Positions: c.Positions, Types: c.Types, Epsilon: c.Epsilon,
	}
	switch c.Type {
	case "bert":
	case "roberta", "xlm-roberta", "camembert":
		out.Architecture = ArchitectureRoBERTa
		if c.Padding < 0 {
			c.Padding = 1 // what transformers assumes
		}
		out.FirstPosition = c.Padding + 1
		out.Positions -= out.FirstPosition
	default:
		return Config{}, fmt.Errorf("model type %q, supported are bert, roberta, xlm-roberta and camembert: %w", c.Type, ErrUnsupported)
	}
	if len(c.Architectures) > 0 && strings.HasSuffix(c.Architectures[0], "ForSequenceClassification") {
		out.Logits = len(c.Labels)
		if out.Logits == 0 {
			out.Logits = 2 // what transformers assumes
		}
	}
	return out, nil
}

// readPooling returns the pooling asked for, or the one that the folder names, or the mean.
func readPooling(dir, asked string) (string, error) {
	if asked != "" {
		return asked, nil
	}
	name := filepath.Join(dir, filepath.FromSlash(poolingFile))
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return PoolingMean, nil
	}
	if err != nil {
		return "", fmt.Errorf("read model: %w", err)
	}
	var p struct {
		CLS  bool `json:"pooling_mode_cls_token"`
		Mean bool `json:"pooling_mode_mean_tokens"`
	}
	if err := strict.Unmarshal(raw, &p); err != nil {
		return "", fmt.Errorf("%s: %v: %w", name, err, ErrFormat)
	}
	if p.CLS == p.Mean {
		return "", fmt.Errorf("%s: supported are the pooling of the first token (cls) and the mean, one of them: %w", name, ErrUnsupported)
	}
	if p.CLS {
		return PoolingCLS, nil
	}
	return PoolingMean, nil
}
