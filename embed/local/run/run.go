// Package run makes an embedder of a model that is open. It is for packages that bring a model of their own, such as
// embed/local and embed/local/multilingual, and brings none itself.
package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
)

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

// New returns an embedder on a model that is open.
func New(m *modelrun.Model) *Embedder {
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
func (e *Embedder) Check(ctx context.Context) error { return Kinds.Of(e.run.Check(ctx)) }

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
		return nil, fmt.Errorf("model %s: %w", e.model.Name, Kinds.Of(err))
	}
	return vectors, nil
}

// CountTokens returns the number of tokens of text without special tokens, of which Embed adds two.
func (e *Embedder) CountTokens(text string) int { return e.run.Words().Count(text) }

// Kinds are what the errors of models are in the SDK.
var Kinds = modelhub.Kinds{
	NotFound: rag.ErrNotFound, Unsupported: rag.ErrUnsupported, Invalid: rag.ErrInvalid, Unavailable: rag.ErrUnavailable,
}
