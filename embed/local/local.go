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
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local/run"
)

// Config chooses the model and bounds its work.
type Config struct {
	// Model is the name of a model: "builtin" (or ""), all-MiniLM-L6-v2 in int8, for English, part of the program;
	// "all-minilm-l6", "bge-small-en", "e5-small" and "multilingual-e5-small", which are looked for in ModelDir,
	// $RAG_MODEL_DIR and the user's cache. Or the path of a folder, absolute or beginning with a dot, that holds
	// config.json, tokenizer.json and model.safetensors of an encoder of the BERT family.
	Model    string `json:"model"`
	ModelDir string `json:"model_dir"`                // folder of model folders, searched first; "": none
	Threads  int    `json:"threads" range:"[0,1024]"` // most threads at work for one Embedder; 0: GOMAXPROCS

	// What the card of a model says; for the path of a folder only.
	Name           string   `json:"name"`                            // in fingerprints; "": the folder's name
	Pooling        string   `json:"pooling"`                         // "mean" or "cls"; "": what 1_Pooling/config.json in the folder says
	QuestionPrefix string   `json:"question_prefix"`                 // put before each question
	PassagePrefix  string   `json:"passage_prefix"`                  // put before each passage
	MaxTokens      int      `json:"max_tokens" range:"[0,10000000]"` // longest input, special tokens included; 0: what the model has, at most 512
	Languages      []string `json:"languages"`                       // BCP 47 primary tags that the model knows; empty: any
}

// Embedder turns texts into vectors of unit length. It is safe for concurrent use; concurrent calls share its threads.
type Embedder = run.Embedder

// New returns an embedder; the weights are read later. An unknown model and settings that cannot be right are
// [rag.ErrInvalid], a model of a kind that cannot be run [rag.ErrUnsupported], and one that is in none of the places
// [rag.ErrNotFound]: the error lists them, and what can be done.
func New(c Config) (*Embedder, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("threads is %d: want 0 (all processors) or more: %w", c.Threads, rag.ErrInvalid)
	}
	m, err := open(c)
	if err != nil {
		return nil, run.Kinds.Of(err)
	}
	return run.New(m), nil
}
