// Package local embeds texts on this machine, in Go alone: no service, no key, no cgo. Its default model is part of the
// program; other models are read from folders, which `rag models pull` fills.
//
//	e, err := local.New(local.Config{})
//	vectors, err := e.Embed(ctx, rag.AsPassage, []string{"Payment is due within thirty days."})
//
// Importing the package adds about 23 MB to a program. Weights are read at the first call of Embed; a model that then
// does not give the vectors it was published with is refused.
package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
)

// Config chooses the model and bounds its work.
type Config struct {
	// Model is the name of a model: "builtin" (or ""), all-MiniLM-L6-v2 in int8, for English, part of the program;
	// "all-minilm-l6", "bge-small-en", "e5-small" and "multilingual-e5-small", which are looked for in ModelDir,
	// $RAG_MODEL_DIR and the user's cache. Or the path of a folder, absolute or beginning with a dot, that holds
	// config.json, tokenizer.json and model.safetensors of an encoder of the BERT family.
	Model    string `json:"model"`
	ModelDir string `json:"model_dir"` // folder of model folders, searched first; "": none
	Threads  int    `json:"threads"`   // most threads at work for one Embedder; 0: GOMAXPROCS

	// What the card of a model says; for the path of a folder only.
	Name           string   `json:"name"`            // in fingerprints; "": the folder's name
	Pooling        string   `json:"pooling"`         // "mean" or "cls"; "": what 1_Pooling/config.json in the folder says
	QuestionPrefix string   `json:"question_prefix"` // put before each question
	PassagePrefix  string   `json:"passage_prefix"`  // put before each passage
	MaxTokens      int      `json:"max_tokens"`      // longest input, special tokens included; 0: what the model has, at most 512
	Languages      []string `json:"languages"`       // BCP 47 primary tags that the model knows; empty: any
}

// batch is the most texts a call is worth having: enough to keep all threads busy to the end.
const batch = 64

// Embedder turns texts into vectors of unit length. It is safe for concurrent use; concurrent calls share its threads.
type Embedder struct {
	run   *modelrun.Model
	model rag.EmbedModel
}

var (
	_ rag.Embedder      = (*Embedder)(nil)
	_ rag.TokenCounter  = (*Embedder)(nil)
	_ rag.Fingerprinter = (*Embedder)(nil)
)

// New returns an embedder; the weights are read later. An unknown model and settings that cannot be right are
// [rag.ErrInvalid], a model of a kind that cannot be run [rag.ErrUnsupported], and one that is in none of the places
// [rag.ErrNotFound]: the error lists them, and what can be done.
func New(c Config) (*Embedder, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("threads is %d: want 0 (all processors) or more: %w", c.Threads, rag.ErrInvalid)
	}
	m, err := open(c)
	if err != nil {
		return nil, kinds.Of(err)
	}
	return NewOf(m), nil
}

// NewOf returns an embedder on a model that is open: it is for packages that bring a model of their own.
func NewOf(m *modelrun.Model) *Embedder {
	c := m.Card()
	return &Embedder{run: m, model: rag.EmbedModel{
		Name:     c.Title,
		Revision: m.Revision(),
		Dims:     c.Dims,
		// The prefix takes its part of the window.
		MaxTokens:      c.MaxTokens - m.Words().Count(c.PassagePrefix),
		MaxBatch:       batch,
		QuestionPrefix: c.QuestionPrefix,
		PassagePrefix:  c.PassagePrefix,
		Pooling:        c.Pooling,
		Languages:      c.Languages,
	}}
}

// Model describes the model.
func (e *Embedder) Model() rag.EmbedModel {
	m := e.model
	m.Languages = slices.Clone(m.Languages)
	return m
}

// Fingerprint is the model's: threads and processor change no vector by more than rounding.
func (e *Embedder) Fingerprint() string { return e.model.Fingerprint() }

// Check reads the weights, if no call has yet, and holds the model against its references. A model that strays from
// them, in general by more than 1e-3, is [rag.ErrInvalid]; so are then all calls of Embed.
func (e *Embedder) Check(ctx context.Context) error { return kinds.Of(e.run.Check(ctx)) }

// Embed returns one unit vector per text, each with the prefix of its role put before it. Of a text of more than
// MaxTokens tokens the first ones count: CountTokens tells beforehand. When ctx ends, Embed returns its error within
// one layer of one text.
func (e *Embedder) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	prefix := e.model.PassagePrefix
	if role == rag.AsQuestion {
		prefix = e.model.QuestionPrefix
	}
	if prefix != "" {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = prefix + texts[i]
		}
	}
	vectors, err := e.run.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", e.model.Name, kinds.Of(err))
	}
	return vectors, nil
}

// CountTokens returns the number of tokens of text without special tokens, of which Embed adds two.
func (e *Embedder) CountTokens(text string) int { return e.run.Words().Count(text) }
