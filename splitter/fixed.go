package splitter

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// Fixed is the splitter "fixed": windows of the text that are as long as they may be, each of which repeats the last words
// of the one before, whatever the text says there. Sentences are cut, and an edit changes every chunk behind it; it is for
// chunks like those of a pipeline that splits so. [NewFixed] makes one. It is safe for concurrent use.
type Fixed struct{ s *Splitter }

var (
	_ rag.Splitter      = (*Fixed)(nil)
	_ rag.Fingerprinter = (*Fixed)(nil)
)

// NewFixed returns the splitter "fixed". Of the sizes min_tokens plays no part.
//
// tokens counts the tokens of the embedder that the chunks are made for; nil: [Estimate].
func NewFixed(c Config, tokens rag.TokenCounter) (*Fixed, error) { return newFixed(c, tokens, 0) }

func newFixed(c Config, tokens rag.TokenCounter, window int) (*Fixed, error) {
	c.MinTokens = -1
	s, err := newSplitter("fixed", c, tokens, window, 0)
	if err != nil {
		return nil, err
	}
	return &Fixed{s}, nil
}

// Fingerprint names the rules and the sizes that place the cuts.
func (f *Fixed) Fingerprint() string { return f.s.Fingerprint() }

// Split cuts doc.Text into windows of whole words. The last one is the first that reaches the end of the text. The error is
// that of ctx.
func (f *Fixed) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	words, err := f.words(ctx, doc.Text)
	if err != nil {
		return nil, err
	}
	c := newCutter(words, f.s.sizes)
	var chunks []rag.Chunk
	for first, end := 0, 0; end < len(words); {
		for end < len(words) && (end == first || c.weight(first, end+1) <= c.sizes.MaxTokens) {
			end++
		}
		start, stop := words[first].start, words[end-1].end
		chunks = append(chunks, rag.Chunk{
			Ordinal: len(chunks), Text: doc.Text[start:stop], Start: start, End: stop, Page: doc.Page(start), Headings: doc.HeadingsAt(start),
		})
		next := end
		for next-1 > first && c.weight(next-1, end) <= c.sizes.OverlapTokens {
			next--
		}
		first = next
	}
	return chunks, nil
}

// words returns the words of a text, and the pieces of those that are too long for a chunk, as units.
func (f *Fixed) words(ctx context.Context, text string) ([]unit, error) {
	b := builder{text: text, tokens: f.s.tokens, max: f.s.sizes.MaxTokens}
	pos := 0
	for i, n := range pieces(text, wordLength) {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.add(pos, pos+n, byWord, stepGraphemes, false)
		pos += n
	}
	return b.units, ctx.Err()
}
