// Command quantize makes the built-in model: int8 weights and a vocabulary from a model as its authors publish it.
// The same input gives the same bytes.
//
//	go run ./scripts/models/quantize -from MODEL_DIR -to embed/local/model
//
// MODEL_DIR holds config.json, model.safetensors and tokenizer.json.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

func main() {
	from := flag.String("from", "", "folder of the published model")
	to := flag.String("to", "embed/local/model", "folder for weights.bin and vocab.txt")
	flag.Parse()
	if *from == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "quantize:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	config, err := readConfig(filepath.Join(from, "config.json"))
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(from, "model.safetensors"))
	if err != nil {
		return err
	}
	tensors, err := encoder.ReadSafetensors(raw)
	if err != nil {
		return err
	}
	kept := tensors[:0]
	for _, t := range tensors {
		if !strings.HasPrefix(t.Name, "pooler.") { // a head for another task
			kept = append(kept, t)
		}
	}
	var weights bytes.Buffer
	if err := encoder.Write(&weights, config, kept, quantised); err != nil {
		return err
	}
	if _, err := encoder.Load(weights.Bytes()); err != nil {
		return fmt.Errorf("check what was made: %w", err)
	}
	vocabulary, err := readVocabulary(filepath.Join(from, "tokenizer.json"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "weights.bin"), weights.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "vocab.txt"), []byte(strings.Join(vocabulary, "\n")+"\n"), 0o644)
}

// quantised names the matrices of the layers and the table of words. The table of positions is small, stands in every
// token's sum, and in int8 would cost as much precision as the layers' attention: it stays as it is.
func quantised(name string) bool {
	layer := strings.HasPrefix(name, "encoder.layer.") && strings.HasSuffix(name, ".weight") && !strings.Contains(name, "LayerNorm")
	return layer || name == "embeddings.word_embeddings.weight"
}

func readConfig(name string) (encoder.Config, error) {
	var c struct {
		Type      string  `json:"model_type"`
		Act       string  `json:"hidden_act"`
		Layers    int     `json:"num_hidden_layers"`
		Hidden    int     `json:"hidden_size"`
		Heads     int     `json:"num_attention_heads"`
		Inner     int     `json:"intermediate_size"`
		Vocab     int     `json:"vocab_size"`
		Positions int     `json:"max_position_embeddings"`
		Types     int     `json:"type_vocab_size"`
		Epsilon   float64 `json:"layer_norm_eps"`
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return encoder.Config{}, err
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return encoder.Config{}, fmt.Errorf("%s: %w", name, err)
	}
	if c.Act != "gelu" {
		return encoder.Config{}, fmt.Errorf("%s: activation %q: only gelu is known", name, c.Act)
	}
	return encoder.Config{
		Architecture: c.Type, Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, FeedForward: c.Inner,
		Vocabulary: c.Vocab, Positions: c.Positions, Types: c.Types, Epsilon: c.Epsilon, Pooling: encoder.PoolingMean,
	}, nil
}

func readVocabulary(name string) ([]string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return tokenize.ParseVocabulary(raw)
}
