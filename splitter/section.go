package splitter

import "github.com/seed-d8745b77/rag"

// NewSection returns the splitter "section": one chunk for each section's own text if it fits, whatever its level, and
// otherwise chunks of that section alone. A heading without a text of its own goes with the next text.
//
// tokens counts the tokens of the embedder that the chunks are made for; nil: [Estimate].
func NewSection(c Config, tokens rag.TokenCounter) (*Splitter, error) {
	return newSplitter("section", c, tokens, 0, 0)
}
