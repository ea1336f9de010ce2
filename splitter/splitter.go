// Package splitter cuts documents into chunks that fit an embedding model's window.
//
//	s, err := splitter.NewRecursive(splitter.Config{MaxTokens: 200}, tokens)
//	chunks, err := s.Split(ctx, doc)
//
// Two providers share one machinery and differ in how they treat the outline:
//
//   - "recursive" keeps a small section together with its few subsections, and
//   - "section" never joins two sections.
//
// A third, "fixed", cuts windows of one length, as many other pipelines do.
//
// The work of the two is done in three steps: the text is read as blocks (heading, paragraph, list item, code fence, table), the
// blocks become units that must not be cut (a sentence, a signature, a whole fence, a whole table), and runs of units become chunks.
// Where a run is too long it is cut at the strongest boundary inside; between boundaries of equal strength the hash of
// the text behind the boundary decides. So the place of a cut depends on the text around it alone, never on a count
// from the start of the section, and an edit moves no cut far away from it.
package splitter

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Version of the rules that place cuts. It changes whenever the same text would be cut in another way.
const version = 3

// Config sizes chunks. The zero value is the default.
type Config struct {
	// Unit is what the sizes below count: UnitTokens, UnitCharacters or UnitWords; "": UnitTokens. Units other than tokens
	// are for chunks that are to be like those of another system; what goes beyond the embedder's window is then not embedded.
	Unit string `json:"unit"`
	// MaxTokens is the most tokens of a chunk's Text; 0: 200, or less if the embedder's window is below 256. At least 8.
	// There is no default in another unit.
	// The default leaves room in a window of 256 for special tokens and a heading path as context.
	MaxTokens int `json:"max_tokens,omitzero" range:"[8,10000000]"`
	// OverlapTokens is the most tokens that a chunk which begins inside a paragraph repeats of the chunk before it, in
	// whole sentences; 0: 15 % of MaxTokens; -1: none. At most half of MaxTokens. A sentence that is longer, or for
	// which the chunk has no room, is not repeated at all.
	OverlapTokens int `json:"overlap_tokens,omitzero" range:"[-1,5000000] but 0"`
	// MinTokens is the size below which a part is not cut off if there is another place to cut; 0: a quarter of
	// MaxTokens; -1: none. At most a third of MaxTokens. A section of its own may be smaller.
	MinTokens int `json:"min_tokens,omitzero" range:"[-1,3333333] but 0"`
}

// Units of sizes. A tokenizer's token is three quarters of a word of English, and four characters.
const (
	UnitTokens     = "tokens"     // of the embedder
	UnitCharacters = "characters" // Unicode code points, blank space included
	UnitWords      = "words"      // between blanks; sixteen bytes without one count as a word
)

// Shares of MaxTokens that are the defaults of the other two sizes, in percent.
const (
	overlapPercent = 15
	minPercent     = 25
)

const (
	defaultMaxTokens = 200
	leastMaxTokens   = 8
	// besideText is what stands in an embedder's window beside a chunk's Text: two or three special tokens, a line
	// end, and the heading path that transform "context" bounds to about 40 tokens.
	besideText = 56
)

// withDefaults returns the effective sizes; window is the embedder's longest input in tokens, 0 if unknown.
func (c Config) withDefaults(window int) (Config, error) {
	c.Unit = cmp.Or(c.Unit, UnitTokens)
	if c.MaxTokens == 0 && c.Unit != UnitTokens {
		return c, fmt.Errorf("max_tokens is missing: in %s it has no default: %w", c.Unit, rag.ErrInvalid)
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
		if window > 0 {
			c.MaxTokens = max(leastMaxTokens, min(c.MaxTokens, window-besideText))
		}
	}
	if c.MaxTokens < leastMaxTokens {
		return c, fmt.Errorf("max_tokens is %d: give at least %d: %w", c.MaxTokens, leastMaxTokens, rag.ErrInvalid)
	}
	var err error
	if c.OverlapTokens, err = share("overlap_tokens", c.OverlapTokens, c.MaxTokens*overlapPercent/100, c.MaxTokens/2); err != nil {
		return c, err
	}
	c.MinTokens, err = share("min_tokens", c.MinTokens, c.MaxTokens*minPercent/100, c.MaxTokens/3)
	return c, err
}

// share resolves a size that is bounded by a part of max_tokens: 0 means the default, -1 none.
func share(name string, value, byDefault, most int) (int, error) {
	switch {
	case value == 0:
		return byDefault, nil
	case value == -1:
		return 0, nil
	case value < 0 || value > most:
		return 0, fmt.Errorf("%s is %d: with this max_tokens give 1 to %d, or -1 for none: %w", name, value, most, rag.ErrInvalid)
	}
	return value, nil
}

// Splitter is a rag.Splitter; NewRecursive and NewSection make one. It is safe for concurrent use.
type Splitter struct {
	name     string
	sizes    Config
	tokens   rag.TokenCounter
	absorbed int // subsections that a section may keep with it in one chunk
}

var (
	_ rag.Splitter      = (*Splitter)(nil)
	_ rag.Fingerprinter = (*Splitter)(nil)
)

func newSplitter(name string, c Config, tokens rag.TokenCounter, window, absorbed int) (*Splitter, error) {
	counter, err := counterOf(cmp.Or(c.Unit, UnitTokens), tokens)
	if err != nil {
		return nil, fmt.Errorf("splitter %s: %w", name, err)
	}
	sizes, err := c.withDefaults(window)
	if err != nil {
		return nil, fmt.Errorf("splitter %s: %w", name, err)
	}
	return &Splitter{name: name, sizes: sizes, tokens: counter, absorbed: absorbed}, nil
}

// Fingerprint names the rules and the sizes that place the cuts.
func (s *Splitter) Fingerprint() string {
	sizes := fmt.Sprintf("%s/v%d/%d/%d/%d", s.name, version, s.sizes.MaxTokens, s.sizes.OverlapTokens, s.sizes.MinTokens)
	if s.sizes.Unit != UnitTokens {
		sizes += "/" + s.sizes.Unit
	}
	return sizes
}

// Split cuts doc.Text into chunks. Each is at most MaxTokens long in the unit of the sizes, unless a single character is longer. Together they
// hold everything but blank space between them; the start of a chunk may repeat sentences of the chunk before it.
// The error is that of ctx.
func (s *Splitter) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	units, err := s.units(ctx, doc)
	if err != nil {
		return nil, err
	}
	c := newCutter(units, s.sizes)
	for _, p := range s.parts(units) {
		c.cut(p.first, p.end)
	}
	chunks := make([]rag.Chunk, 0, len(c.spans))
	for i, sp := range c.spans {
		first := sp.first
		if i > 0 {
			first = c.overlap(c.spans[i-1], sp)
		}
		start, end := units[first].start, units[sp.end-1].end
		chunks = append(chunks, rag.Chunk{
			Ordinal:  i,
			Text:     doc.Text[start:end],
			Start:    start,
			End:      end,
			Page:     doc.Page(start),
			Headings: doc.HeadingsAt(units[bodyOf(units, first, sp.end)].start),
		})
	}
	return chunks, nil
}

// bodyOf returns the first unit of [first, end) that is not a heading: the text that a chunk's headings are said of.
// A chunk of headings alone is said to stand under the last of them.
func bodyOf(units []unit, first, end int) int {
	for i := first; i < end; i++ {
		if units[i].level == 0 {
			return i
		}
	}
	return end - 1
}

// units reads the text as a sequence of units.
func (s *Splitter) units(ctx context.Context, doc rag.Document) ([]unit, error) {
	b := builder{text: doc.Text, tokens: s.tokens, max: s.sizes.MaxTokens}
	for i, bl := range blocks(doc.Text, headingLines(doc)) {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.addBlock(bl)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.markPages(doc.Pages)
	b.finish()
	return b.units, nil
}

// headingLines maps the offset of each line that opens a section to the section's level. A section that does not begin
// with the first word of a line is no place to cut.
func headingLines(doc rag.Document) map[int]int {
	lines := make(map[int]int, len(doc.Sections))
	for _, sec := range doc.Sections {
		if sec.Start < 0 || sec.Start >= len(doc.Text) {
			continue
		}
		line := strings.LastIndexByte(doc.Text[:sec.Start], '\n') + 1
		title, _, _ := strings.Cut(doc.Text[sec.Start:], "\n")
		if !isBlank(doc.Text[line:sec.Start]) || isBlank(title) {
			continue
		}
		level := max(1, sec.Level)
		if known, ok := lines[line]; !ok || level < known {
			lines[line] = level
		}
	}
	return lines
}
