package local

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
)

// defaultModel is small enough to rerank a page of candidates on a processor while a user waits.
const defaultModel = "ms-marco-minilm-l6"

// leastTokens is the smallest window: the special tokens, and something of the query and of the text.
const leastTokens = 16

// open returns the model that c names.
func open(c Config) (*modelrun.Model, error) {
	if c.MaxTokens != 0 && c.MaxTokens < leastTokens {
		return nil, fmt.Errorf("max_tokens is %d: want 0 (what the model has, at most 512) or at least %d: %w", c.MaxTokens, leastTokens, rag.ErrInvalid)
	}
	if modelhub.IsPath(c.Model) {
		name := filepath.Base(filepath.Clean(c.Model))
		return modelrun.Open(modelhub.Card{Name: name, Title: name, Task: modelhub.TaskRerank, MaxTokens: c.MaxTokens, Languages: slices.Clone(c.Languages)}, c.Model, c.Threads)
	}
	if len(c.Languages) > 0 {
		return nil, fmt.Errorf("languages: the model %q says so itself; the setting is for the path of a folder: %w", cmp.Or(c.Model, defaultModel), rag.ErrInvalid)
	}
	card, err := modelhub.Preset(modelhub.TaskRerank, cmp.Or(c.Model, defaultModel), rag.DidYouMean)
	if err != nil {
		return nil, err
	}
	dir, err := modelhub.Find(card.Name, c.ModelDir)
	if err != nil {
		return nil, err
	}
	if c.MaxTokens > 0 {
		card.MaxTokens = c.MaxTokens
	}
	return modelrun.Open(card, dir, c.Threads)
}

// kinds are what the errors of models are in the SDK.
var kinds = modelhub.Kinds{
	NotFound: rag.ErrNotFound, Unsupported: rag.ErrUnsupported, Invalid: rag.ErrInvalid, Unavailable: rag.ErrUnavailable,
}
