package splitter

import "github.com/seed-d8745b77/rag"

// maxAbsorbed is the number of subsections that "recursive" keeps in one chunk with the section they belong to. When
// an edit makes such a family too long, it falls into one chunk each; the bound keeps that at three new chunks.
const maxAbsorbed = 2

// NewRecursive returns the splitter "recursive": chunks end at headings, else between paragraphs, else between
// sentences. No chunk reaches over a heading of level 1 or 2. A section that fits with all its subsections, at most
// two and of level 3 or deeper, is one chunk.
//
// tokens counts the tokens of the embedder that the chunks are made for; nil: [Estimate].
func NewRecursive(c Config, tokens rag.TokenCounter) (*Splitter, error) {
	return newSplitter("recursive", c, tokens, 0, maxAbsorbed)
}
