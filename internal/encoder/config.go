package encoder

import (
	"errors"
	"fmt"
)

// Config is the shape of a model.
type Config struct {
	Architecture  string  `json:"architecture"`             // [ArchitectureBERT] or [ArchitectureRoBERTa]
	Layers        int     `json:"layers"`                   // 1 or more
	Hidden        int     `json:"hidden"`                   // length of a vector; a multiple of 16
	Heads         int     `json:"heads"`                    // of the attention; Hidden/Heads is a multiple of 16
	FeedForward   int     `json:"feed_forward"`             // width of the inner layer; a multiple of 16
	Vocabulary    int     `json:"vocabulary"`               // number of token ids
	Positions     int     `json:"positions"`                // longest sequence in tokens
	FirstPosition int     `json:"first_position,omitempty"` // position of the first token: 0, or padding id + 1 in RoBERTa
	Types         int     `json:"types"`                    // number of segment types
	Epsilon       float64 `json:"epsilon"`                  // added to the variance in layer norms
	Pooling       string  `json:"pooling,omitempty"`        // of an embedding model: [PoolingMean] or [PoolingCLS]
	Raw           bool    `json:"raw,omitempty"`            // vectors keep their length; false: they have length 1
	Logits        int     `json:"logits,omitempty"`         // 1: a cross-encoder, which scores pairs; 0: an embedding model
}

// Values of Config that are known.
const (
	ArchitectureBERT    = "bert"    // BERT, MiniLM, BGE, GTE, E5
	ArchitectureRoBERTa = "roberta" // RoBERTa, XLM-R, multilingual E5 (base, large), BGE rerankers
	PoolingMean         = "mean"    // the mean of the tokens' vectors
	PoolingCLS          = "cls"     // the vector of the first token
)

// ErrFormat is the kind of all errors about a file that cannot be used.
var ErrFormat = errors.New("not a usable weights file")

// ErrUnsupported is the kind of errors about a model of a kind this package does not compute; it is an [ErrFormat].
var ErrUnsupported error = unsupported{}

type unsupported struct{}

func (unsupported) Error() string        { return "this kind of model is not supported" }
func (unsupported) Is(target error) bool { return target == ErrFormat }

func (c Config) validate() error {
	if c.Architecture != ArchitectureBERT && c.Architecture != ArchitectureRoBERTa {
		return fmt.Errorf("architecture %q, supported are %q and %q: %w", c.Architecture, ArchitectureBERT, ArchitectureRoBERTa, ErrUnsupported)
	}
	for name, n := range map[string]int{
		"layers": c.Layers, "hidden": c.Hidden, "heads": c.Heads, "feed_forward": c.FeedForward,
		"vocabulary": c.Vocabulary, "positions": c.Positions, "types": c.Types, "first_position": c.FirstPosition + 1,
	} {
		if n < 1 || n > maxSide {
			return fmt.Errorf("config has %s %d: %w", name, n, ErrFormat)
		}
	}
	if c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%tileCols != 0 || c.FeedForward%tileCols != 0 {
		return fmt.Errorf("hidden %d in %d heads, feed-forward %d: parts must be multiples of %d: %w", c.Hidden, c.Heads, c.FeedForward, tileCols, ErrUnsupported)
	}
	if !(c.Epsilon > 0) {
		return fmt.Errorf("config has epsilon %g: %w", c.Epsilon, ErrFormat)
	}
	return c.validateHead()
}

func (c Config) validateHead() error {
	switch {
	case c.Logits == 0 && c.Pooling != PoolingMean && c.Pooling != PoolingCLS:
		return fmt.Errorf("pooling %q, supported are %q and %q: %w", c.Pooling, PoolingMean, PoolingCLS, ErrUnsupported)
	case c.Logits != 0 && c.Logits != 1:
		return fmt.Errorf("a head of %d logits, supported is 1: %w", c.Logits, ErrUnsupported)
	}
	return nil
}
