package sparse

import (
	"context"
	"errors"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/terms"
)

var _ rag.Highlighter = (*BM25)(nil)

// Highlight returns where words of the query stand in the records' texts, in the order of the texts. A word is marked whole
// if a term of the query is found by it, and so is an identifier of which the query names a part. In scripts without blanks
// those characters are marked that the query has in this order.
func (x *BM25) Highlight(ctx context.Context, collection string, q rag.SparseQuery, recs []rag.TextRecord) ([][]rag.TextRange, error) {
	if err := errors.Join(ctx.Err(), q.Match.Validate()); err != nil {
		return nil, err
	}
	index, err := x.keep.index(collection, q.Match != rag.TextMatch{})
	if err != nil {
		return nil, err
	}
	asked := x.ask(index, q)
	defer asked.GiveBack()
	passages := make([]terms.Passage, len(recs))
	for i, r := range recs {
		passages[i] = passage(r)
	}
	found := make([][]rag.TextRange, len(recs))
	for i, ranges := range x.maker.Highlight(asked, q.Text, passages) {
		for _, r := range ranges {
			found[i] = append(found[i], rag.TextRange(r))
		}
	}
	return found, nil
}
