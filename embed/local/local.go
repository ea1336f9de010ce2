// Package local embeds texts on this machine, with a model that is part of the program: no download, no key, no
// service, no cgo.
//
//	e, err := local.New(local.Config{})
//	vectors, err := e.Embed(ctx, rag.AsPassage, []string{"Payment is due within thirty days."})
//
// Importing the package adds about 23 MB to a program. The weights are unpacked at the first call of Embed, once per
// process, into about 43 MB.
package local

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// Config chooses the model and bounds its work.
type Config struct {
	Model   string `json:"model"`   // name of a model; "" and "builtin": all-MiniLM-L6-v2 in int8, for English
	Threads int    `json:"threads"` // most threads at work for one Embedder; 0: GOMAXPROCS
}

// Embedder turns texts into vectors of unit length. It is safe for concurrent use; concurrent calls share its threads.
type Embedder struct {
	model  rag.EmbedModel
	words  *tokenize.WordPiece
	runner func() (*encoder.Runner, error)
}

var (
	_ rag.Embedder      = (*Embedder)(nil)
	_ rag.TokenCounter  = (*Embedder)(nil)
	_ rag.Fingerprinter = (*Embedder)(nil)
)

// New returns an embedder; the weights are unpacked later. An unknown model or a negative number of threads is
// [rag.ErrInvalid].
func New(c Config) (*Embedder, error) {
	if c.Model != "" && c.Model != builtinName {
		return nil, fmt.Errorf("model %q%s (known: %s): %w", c.Model, rag.DidYouMean(c.Model, []string{builtinName}), builtinName, rag.ErrInvalid)
	}
	if c.Threads < 0 {
		return nil, fmt.Errorf("threads is %d: want 0 (all processors) or more: %w", c.Threads, rag.ErrInvalid)
	}
	model, err := describeBuiltin()
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	words, err := loadBuiltinWords()
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	runner := sync.OnceValues(func() (*encoder.Runner, error) {
		m, err := loadBuiltin()
		if err != nil {
			return nil, err
		}
		return encoder.NewRunner(m, c.Threads), nil
	})
	return &Embedder{model: model, words: words, runner: runner}, nil
}

// Model describes the model.
func (e *Embedder) Model() rag.EmbedModel {
	m := e.model
	m.Languages = slices.Clone(m.Languages)
	return m
}

// Fingerprint is the model's: threads and processor change no vector by more than rounding.
func (e *Embedder) Fingerprint() string { return e.model.Fingerprint() }

// Embed returns one unit vector per text; the role makes no difference to this model. Of a text of more than
// MaxTokens tokens the first ones count: CountTokens tells beforehand. When ctx ends, Embed returns its error within
// one layer of one text.
func (e *Embedder) Embed(ctx context.Context, _ rag.EmbedRole, texts []string) ([][]float32, error) {
	runner, err := e.runner()
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	sequences := make([][]int32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sequences[i], _ = e.words.Encode(text, e.model.MaxTokens)
	}
	return runner.Embed(ctx, sequences)
}

// CountTokens returns the number of tokens of text without special tokens, of which Embed adds two.
func (e *Embedder) CountTokens(text string) int { return e.words.Count(text) }
