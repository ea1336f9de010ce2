package remote

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// Row is a record that a service gave.
type Row struct {
	ID      string
	Score   float64
	Vector  []float32 // only of a scan
	Payload string    // as in [Fields]
}

// Asked is how a service is searched.
type Asked struct {
	Most    int                                             // rows that Nearest may be asked for
	Nearest func(ctx context.Context, n int) ([]Row, error) // the best n by the service's own ranking, best first; nil if there is no collection
	Scan    func(ctx context.Context) iter.Seq2[Row, error] // all that fulfil the condition, with vectors; nil: fewer rows than asked for are all there are
}

// deeper is by how much more is asked for when too few of the rows were matches.
const deeper = 8

// Search returns exactly min(k, matches) of a filter, best first, ties by ID, over a service that ranks approximately,
// cannot judge the filter and orders equal scores as it likes. It asks for more until the k-th match is better than the
// last row, which settles who stands before it. Where the service gives too few, or would have to be asked for more than
// it can give, all that fulfils the condition is compared.
func Search(ctx context.Context, k int, f rag.Filter, query []float32, a Asked) ([]rag.Match, error) {
	if k <= 0 {
		return nil, nil
	}
	best := ranking{k: k}
	for n := min(k+1, a.Most); ; n = min(n*deeper, a.Most) {
		rows, err := a.Nearest(ctx, n)
		if err != nil {
			return nil, err
		}
		best.list = best.list[:0]
		for _, r := range rows {
			if err := best.judge(f, r); err != nil {
				return nil, err
			}
		}
		got, all := best.result(), len(rows) < n
		if len(got) == k && !all && got[k-1].Score > rows[n-1].Score {
			return got, nil
		}
		if a.Scan == nil && (all || n == a.Most && len(got) == k) { // with more equal ones than it gives, any will do
			return got, nil
		}
		if all || n == a.Most {
			break
		}
	}
	if a.Scan == nil {
		return nil, errTooMany
	}
	best.list = best.list[:0]
	for r, err := range a.Scan(ctx) {
		if err != nil {
			return nil, err
		}
		for i, x := range r.Vector {
			r.Score += float64(x) * float64(query[i])
		}
		if err := best.judge(f, r); err != nil {
			return nil, err
		}
	}
	return best.result(), nil
}

// errTooMany is returned where the service cannot give enough to tell.
var errTooMany = fmt.Errorf("the service may give too few records to find as many matches: ask for fewer: %w", rag.ErrUnsupported)

// ranking keeps the best k of what it is given.
type ranking struct {
	k    int
	list []rag.Match
}

// judge takes a row if it matches.
func (b *ranking) judge(f rag.Filter, r Row) error {
	ok, err := matches(f, r.Payload)
	if err != nil || !ok {
		return err
	}
	b.list = append(b.list, rag.Match{ID: r.ID, Score: r.Score})
	if len(b.list) > 2*b.k+1000 { // seldom enough to cost little
		b.result()
	}
	return nil
}

// result sorts the list and cuts it.
func (b *ranking) result() []rag.Match {
	slices.SortFunc(b.list, func(x, y rag.Match) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID)) })
	b.list = b.list[:min(b.k, len(b.list))]
	return b.list
}
