package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// defaultWindow is the window of BERT and most of its descendants, for models that do not tell theirs.
const defaultWindow = 512

// robertaOffset is how many of their positions RoBERTa and its descendants leave unused: they count from behind the
// padding's id, which is 1.
const robertaOffset = 2

// windowOf returns the longest sequence of the model: what is configured, at most what config.json allows.
func windowOf(c Config) (int, error) {
	if c.MaxTokens < 0 {
		return 0, fmt.Errorf("longest sequence of %d tokens: want 0 (what the model has) or more", c.MaxTokens)
	}
	path := filepath.Join(c.Dir, "config.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if c.MaxTokens > 0 {
			return c.MaxTokens, nil
		}
		return defaultWindow, nil
	}
	if err != nil {
		return 0, err
	}
	var config struct {
		Type      string `json:"model_type"`
		Positions int    `json:"max_position_embeddings"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	window := config.Positions
	switch config.Type {
	case "roberta", "xlm-roberta", "camembert":
		window -= robertaOffset
	}
	switch {
	case window <= 0 && c.MaxTokens > 0:
		return c.MaxTokens, nil
	case window <= 0:
		return defaultWindow, nil
	case c.MaxTokens > window:
		return 0, fmt.Errorf("longest sequence of %d tokens: the model has positions for %d", c.MaxTokens, window)
	case c.MaxTokens > 0:
		return c.MaxTokens, nil
	}
	return window, nil
}
