package sparse

import (
	"context"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/terms"
)

var _ rag.Coverer = (*BM25)(nil)

// Cover returns the words that a question asks for, each with its rarity in the collection as BM25 weighs it, and which of
// them each record's text has. The stems that a word has in several languages count as one word; in scripts without
// blanks each pair of characters is a word.
func (x *BM25) Cover(ctx context.Context, collection, question string, recs []rag.TextRecord) (rag.Coverage, error) {
	if err := ctx.Err(); err != nil {
		return rag.Coverage{}, err
	}
	index, err := x.keep.index(collection, false)
	if err != nil {
		return rag.Coverage{}, err
	}
	words, wordOf := x.maker.Words(terms.Vocabulary{Stemmings: index.Stemmings()}, question)
	c := rag.Coverage{Weights: index.Rarity(words), Found: make([][]bool, len(recs))}
	for i, r := range recs {
		c.Found[i] = x.maker.Cover(words, wordOf, r.Text, r.Language)
	}
	return c, nil
}
