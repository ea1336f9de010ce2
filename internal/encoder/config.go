package encoder

import "fmt"

// Config is the shape of a model.
type Config struct {
	Architecture string  `json:"architecture"` // "bert"
	Layers       int     `json:"layers"`
	Hidden       int     `json:"hidden"`       // length of a vector; a multiple of 16
	Heads        int     `json:"heads"`        // of the attention; Hidden/Heads is a multiple of 16
	FeedForward  int     `json:"feed_forward"` // width of the inner layer; a multiple of 16
	Vocabulary   int     `json:"vocabulary"`   // number of token ids
	Positions    int     `json:"positions"`    // longest sequence in tokens
	Types        int     `json:"types"`        // number of segment types; all tokens are of the first
	Epsilon      float64 `json:"epsilon"`      // added to the variance in layer norms
	Pooling      string  `json:"pooling"`      // "mean"
}

// Values of Config that are known.
const (
	ArchitectureBERT = "bert"
	PoolingMean      = "mean"
)

func (c Config) validate() error {
	if c.Architecture != ArchitectureBERT || c.Pooling != PoolingMean {
		return fmt.Errorf("architecture %q with pooling %q: only %q with %q is known: %w", c.Architecture, c.Pooling, ArchitectureBERT, PoolingMean, ErrFormat)
	}
	for name, n := range map[string]int{
		"layers": c.Layers, "hidden": c.Hidden, "heads": c.Heads, "feed_forward": c.FeedForward,
		"vocabulary": c.Vocabulary, "positions": c.Positions, "types": c.Types,
	} {
		if n < 1 || n > maxSide {
			return fmt.Errorf("config has %s %d: %w", name, n, ErrFormat)
		}
	}
	if c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%tileCols != 0 || c.FeedForward%tileCols != 0 {
		return fmt.Errorf("hidden %d in %d heads, feed-forward %d: parts must be multiples of %d: %w", c.Hidden, c.Heads, c.FeedForward, tileCols, ErrFormat)
	}
	if !(c.Epsilon > 0) {
		return fmt.Errorf("config has epsilon %g: %w", c.Epsilon, ErrFormat)
	}
	return nil
}
