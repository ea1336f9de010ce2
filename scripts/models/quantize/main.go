// Command quantize makes the models that are part of programs: rounded weights and a vocabulary from a model as its
// authors publish it, or as scripts/models/cut.py leaves it. The same input gives the same bytes.
//
//	go run ./scripts/models/quantize -from MODEL_DIR -to embed/local/model
//	go run ./scripts/models/quantize -from CUT_DIR -to embed/local/multilingual/model -form i4
//
// MODEL_DIR holds config.json, model.safetensors and tokenizer.json. The vocabulary is written as vocab.txt if it is
// that of an uncased BERT model, otherwise as the compressed tokenizer.json.
package main

import (
	"bytes"
	"compress/gzip"
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
	to := flag.String("to", "embed/local/model", "folder for weights.bin and the vocabulary")
	form := flag.String("form", string(encoder.Int8), "form of the matrices: i8 or i4")
	flag.Parse()
	if *from == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*from, *to, encoder.Form(*form)); err != nil {
		fmt.Fprintln(os.Stderr, "quantize:", err)
		os.Exit(1)
	}
}

func run(from, to string, matrices encoder.Form) error {
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
	form := func(name string) encoder.Form {
		if rounded(name) {
			return matrices
		}
		return encoder.Float32
	}
	if err := encoder.Write(&weights, config, kept, form); err != nil {
		return err
	}
	if _, err := encoder.Load(weights.Bytes()); err != nil {
		return fmt.Errorf("check what was made: %w", err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "weights.bin"), weights.Bytes(), 0o644); err != nil {
		return err
	}
	return writeVocabulary(filepath.Join(from, "tokenizer.json"), to)
}

// rounded names the matrices of the layers and the table of words. The table of positions is small, stands in every
// token's sum, and in int8 would cost as much precision as the layers' attention: it stays as it is.
func rounded(name string) bool {
	layer := strings.HasPrefix(name, "encoder.layer.") && strings.HasSuffix(name, ".weight") && !strings.Contains(name, "LayerNorm")
	return layer || name == "embeddings.word_embeddings.weight"
}

// writeVocabulary writes the vocabulary of a tokenizer in the form that package local reads.
func writeVocabulary(tokenizer, to string) error {
	raw, err := os.ReadFile(tokenizer)
	if err != nil {
		return err
	}
	if vocabulary, err := tokenize.ParseVocabulary(raw); err == nil {
		return os.WriteFile(filepath.Join(to, "vocab.txt"), []byte(strings.Join(vocabulary, "\n")+"\n"), 0o644)
	}
	if _, err := tokenize.Parse(raw); err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "tokenizer.json.gz"), packed.Bytes(), 0o644)
}
