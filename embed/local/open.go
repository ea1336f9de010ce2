package local

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
)

// open returns the model that c names.
func open(c Config) (*modelrun.Model, error) {
	if modelhub.IsPath(c.Model) {
		card := modelhub.Card{
			Name: filepath.Base(filepath.Clean(c.Model)), Task: modelhub.TaskEmbed,
			Pooling: c.Pooling, QuestionPrefix: c.QuestionPrefix, PassagePrefix: c.PassagePrefix,
			MaxTokens: c.MaxTokens, Languages: slices.Clone(c.Languages),
		}
		if c.Name != "" {
			card.Name = c.Name
		}
		card.Title = card.Name
		if err := checkCard(c); err != nil {
			return nil, err
		}
		return modelrun.Open(card, c.Model, c.Threads)
	}
	if given := c.givenCard(); len(given) > 0 {
		return nil, fmt.Errorf("settings %s: the model %q says so itself; they are for the path of a folder: %w", strings.Join(given, ", "), c.Model, rag.ErrInvalid)
	}
	card, err := modelhub.Preset(modelhub.TaskEmbed, cmp.Or(c.Model, modelhub.Builtin), rag.DidYouMean)
	if err != nil {
		return nil, err
	}
	if card.Repository == "" {
		return openBuiltin(c.Threads)
	}
	dir, err := modelhub.Find(card.Name, c.ModelDir)
	if err != nil {
		return nil, err
	}
	return modelrun.Open(card, dir, c.Threads)
}

// givenCard returns the names of the settings that describe a model and are given.
func (c Config) givenCard() []string {
	var given []string
	for _, s := range []struct {
		name  string
		given bool
	}{
		{"name", c.Name != ""},
		{"pooling", c.Pooling != ""},
		{"question_prefix", c.QuestionPrefix != ""},
		{"passage_prefix", c.PassagePrefix != ""},
		{"max_tokens", c.MaxTokens != 0},
		{"languages", len(c.Languages) > 0},
	} {
		if s.given {
			given = append(given, s.name)
		}
	}
	return given
}

// leastTokens is the smallest window: the special tokens and something of the text.
const leastTokens = 8

// checkCard looks at the settings that describe a model in a folder.
func checkCard(c Config) error {
	if c.MaxTokens != 0 && c.MaxTokens < leastTokens {
		return fmt.Errorf("max_tokens is %d: want 0 (what the model has, at most 512) or at least %d: %w", c.MaxTokens, leastTokens, rag.ErrInvalid)
	}
	if c.Pooling != "" && c.Pooling != modelhub.PoolingMean && c.Pooling != modelhub.PoolingCLS {
		return rag.UnknownName("pooling", c.Pooling, []string{modelhub.PoolingMean, modelhub.PoolingCLS})
	}
	// A folder that is not there says nothing about pooling either: opening it gives the better error.
	if c.Pooling == "" && len(modelhub.Missing(c.Model)) == 0 && !modelrun.SaysPooling(c.Model) {
		return fmt.Errorf("%s does not say how it pools: give the setting pooling, %q or %q; the model's card has it: %w",
			c.Model, modelhub.PoolingMean, modelhub.PoolingCLS, rag.ErrInvalid)
	}
	return nil
}
