package sparse

import (
	"context"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
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
	stemmings := index.Stemmings()
	asked, _ := x.analyzer.Ask(question, stemmings[:min(len(stemmings), maxQueryStemmings)], 0)
	wordOf := map[string]int{} // by term
	var words []bm25.Clause
	last := -1 // position of the last word
	for _, t := range asked {
		if _, known := wordOf[t.Text]; known {
			continue
		}
		if t.Position != last {
			words = append(words, bm25.Clause{Weight: 1})
			last = t.Position
		}
		w := len(words) - 1
		wordOf[t.Text] = w
		words[w].Terms = append(words[w].Terms, t.Text)
	}
	c := rag.Coverage{Weights: index.Rarity(words), Found: make([][]bool, len(recs))}
	for i, r := range recs {
		found := make([]bool, len(words))
		x.analyzer.Passage(r.Text, stemming(r), func(t analyze.Term) {
			if w, ok := wordOf[t.Text]; ok {
				found[w] = true
			}
		})
		c.Found[i] = found
	}
	return c, nil
}
