// Command quantize makes the built-in model: int8 weights and a vocabulary from a model as its authors publish it.
// The same input gives the same bytes.
//
//	go run ./scripts/models/quantize -from MODEL_DIR -to embed/local/model
//
// MODEL_DIR holds config.json, model.safetensors and tokenizer.json.
package main

import (
	"bytes"
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
	config, err := encoder.ReadConfig(from, encoder.Options{})
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
	if err := encoder.Write(&weights, config, kept, form); err != nil {
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

// form rounds the matrices of the layers and the table of words. The table of positions is small, stands in every
// token's sum, and in int8 would cost as much precision as the layers' attention: it stays as it is.
func form(name string) encoder.Form {
	layer := strings.HasPrefix(name, "encoder.layer.") && strings.HasSuffix(name, ".weight") && !strings.Contains(name, "LayerNorm")
	if layer || name == "embeddings.word_embeddings.weight" {
		return encoder.Int8
	}
	return encoder.Float32
}

func readVocabulary(name string) ([]string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return tokenize.ParseVocabulary(raw)
}
