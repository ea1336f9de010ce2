// Package modeltest writes folders of models with random weights, for tests: they know nothing, and have the form of
// those that do.
//
//	modeltest.Write(t, dir, modeltest.Shape{Scores: true, Seed: 1})
package modeltest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag/internal/modelhub"
)

// Shape is the form of a model. Zero fields have small defaults.
type Shape struct {
	Layers, Hidden, FeedForward int       // 0: 2, 32, 64
	Heads                       int       // 0: 2
	Positions                   int       // 0: 128
	Scores                      bool      // a cross-encoder; false: an embedding model
	Seed                        uint64    // of the weights
	Type                        string    // model_type in config.json; "": bert
	Vector                      []float32 // the vector of every text, Hidden long; nil: as the weights have it
}

func (s Shape) withDefaults() Shape {
	for _, d := range []struct {
		field *int
		value int
	}{{&s.Layers, 2}, {&s.Hidden, 32}, {&s.FeedForward, 64}, {&s.Heads, 2}, {&s.Positions, 128}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.Type == "" {
		s.Type = "bert"
	}
	return s
}

// Write writes config.json, tokenizer.json and model.safetensors into dir, which it makes. The same shape gives the
// same bytes.
func Write(t testing.TB, dir string, s Shape) {
	t.Helper()
	s = s.withDefaults()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		modelhub.ConfigFile: config(s), modelhub.TokenizerFile: tokenizer(), modelhub.WeightsFile: safetensors(s),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func config(s Shape) []byte {
	c := map[string]any{
		"model_type": s.Type, "architectures": []string{"BertModel"}, "hidden_act": "gelu",
		"num_hidden_layers": s.Layers, "hidden_size": s.Hidden, "num_attention_heads": s.Heads,
		"intermediate_size": s.FeedForward, "vocab_size": len(vocabulary()), "max_position_embeddings": s.Positions,
		"type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
	}
	if s.Scores {
		c["architectures"] = []string{"BertForSequenceClassification"}
		c["id2label"] = map[string]string{"0": "LABEL_0"}
	}
	return encode(c)
}

// vocabulary spells every word: special tokens, then letters, digits and marks, alone and inside a word.
func vocabulary() []string {
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := rune('!'); c <= '~'; c++ {
		words = append(words, string(c), "##"+string(c))
	}
	return words
}

func tokenizer() []byte {
	vocab := map[string]int{}
	for i, w := range vocabulary() {
		vocab[w] = i
	}
	special := func(name string, kind int) any {
		return map[string]any{"SpecialToken": map[string]any{"id": name, "type_id": kind}}
	}
	text := func(name string, kind int) any {
		return map[string]any{"Sequence": map[string]any{"id": name, "type_id": kind}}
	}
	ids := map[string]any{}
	for _, name := range []string{"[CLS]", "[SEP]"} {
		ids[name] = map[string]any{"id": name, "ids": []int{vocab[name]}, "tokens": []string{name}}
	}
	return encode(map[string]any{
		"normalizer": map[string]any{
			"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true,
		},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{
			"type":           "TemplateProcessing",
			"single":         []any{special("[CLS]", 0), text("A", 0), special("[SEP]", 0)},
			"pair":           []any{special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1), special("[SEP]", 1)},
			"special_tokens": ids,
		},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab,
		},
	})
}

// writer lays tensors out one after another.
type writer struct {
	random *rand.Rand
	header map[string]any
	data   []byte
}

// deviation of the weights is that of BERT's own initialisation.
const deviation = 0.02

// add appends a tensor of normally distributed values around mean.
func (w *writer) add(name string, mean float64, shape ...int) {
	n := 1
	for _, side := range shape {
		n *= side
	}
	begin := len(w.data)
	for range n {
		w.data = binary.LittleEndian.AppendUint32(w.data, math.Float32bits(float32(mean+deviation*w.random.NormFloat64())))
	}
	w.header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{begin, len(w.data)}}
}

// fixed appends a tensor of one dimension.
func (w *writer) fixed(name string, values []float32) {
	begin := len(w.data)
	for _, v := range values {
		w.data = binary.LittleEndian.AppendUint32(w.data, math.Float32bits(v))
	}
	w.header[name] = map[string]any{"dtype": "F32", "shape": []int{len(values)}, "data_offsets": []int{begin, len(w.data)}}
}

func (w *writer) linear(name string, outputs, inputs int) {
	w.add(name+".weight", 0, outputs, inputs)
	w.add(name+".bias", 0, outputs)
}

func (w *writer) norm(name string, size int) {
	w.add(name+".weight", 1, size)
	w.add(name+".bias", 0, size)
}

func safetensors(s Shape) []byte {
	w := &writer{random: rand.New(rand.NewPCG(s.Seed, 0)), header: map[string]any{}}
	prefix := ""
	if s.Scores {
		prefix = "bert."
	}
	w.add(prefix+"embeddings.word_embeddings.weight", 0, len(vocabulary()), s.Hidden)
	w.add(prefix+"embeddings.position_embeddings.weight", 0, s.Positions, s.Hidden)
	w.add(prefix+"embeddings.token_type_embeddings.weight", 0, 2, s.Hidden)
	w.norm(prefix+"embeddings.LayerNorm", s.Hidden)
	for i := range s.Layers {
		layer := fmt.Sprintf("%sencoder.layer.%d.", prefix, i)
		for _, part := range []string{"query", "key", "value"} {
			w.linear(layer+"attention.self."+part, s.Hidden, s.Hidden)
		}
		w.linear(layer+"attention.output.dense", s.Hidden, s.Hidden)
		w.norm(layer+"attention.output.LayerNorm", s.Hidden)
		w.linear(layer+"intermediate.dense", s.FeedForward, s.Hidden)
		w.linear(layer+"output.dense", s.Hidden, s.FeedForward)
		if i == s.Layers-1 && s.Vector != nil { // nothing but the bias comes out
			w.fixed(layer+"output.LayerNorm.weight", make([]float32, s.Hidden))
			w.fixed(layer+"output.LayerNorm.bias", s.Vector)
			continue
		}
		w.norm(layer+"output.LayerNorm", s.Hidden)
	}
	if s.Scores {
		w.linear(prefix+"pooler.dense", s.Hidden, s.Hidden)
		w.linear("classifier", 1, s.Hidden)
	}
	head := encode(w.header)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), w.data...)
}

// encode writes JSON; what the package writes can be.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
