package ragtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// TestVectorStoreFaults checks what a [rag.VectorStore] behind a network does when the network fails, at each request of each
// method in turn, in each way of [Fault] but an outage. The error is ErrUnavailable, or the context's where no reply comes;
// what was read is whole or an error; a record is as before or as it is to be, and there once; and the same call again ends
// as it does undisturbed.
//
// address is host and port of a server that is there. open returns a store that reaches it at the address given, which is
// that or a [Proxy]'s, that tries once, knows no collection yet, and has the same data each time.
func TestVectorStoreFaults(t *testing.T, address string, open func(t *testing.T, address string) rag.VectorStore) {
	t.Helper()
	k := indexKind[rag.VectorStore]{
		put: func(ctx context.Context, s rag.VectorStore, c, version string, n int) error {
			recs := make([]rag.VectorRecord, n)
			for i := range recs {
				recs[i] = rag.VectorRecord{ID: faultyID(i), DocID: "d", Vector: axis(i), Meta: rag.Meta{"version": version}}
			}
			return s.Upsert(ctx, c, recs)
		},
		search: func(ctx context.Context, s rag.VectorStore, c string, f rag.Filter) ([]rag.Match, error) {
			return s.Search(ctx, c, rag.VectorQuery{Vector: axis(1), K: 2 * manyRecords, Filter: f})
		},
	}
	runFaults(t, address, open, func(s rag.VectorStore) []act[rag.VectorStore] {
		acts := k.acts(s)
		if _, ok := s.(rag.VectorReader); ok {
			acts = append(acts, act[rag.VectorStore]{
				name: "Vectors", prepare: k.first(fewRecords), holds: k.has(fewRecords, fewRecords, "1", "1"),
				do: func(ctx context.Context, s rag.VectorStore, c string) error {
					got, err := s.(rag.VectorReader).Vectors(ctx, c, []string{faultyID(0), "none", faultyID(3)})
					if err == nil && (len(got) != 3 || len(got[0]) != storeDims || got[1] != nil || len(got[2]) != storeDims) {
						return fmt.Errorf("%w: vectors %v", errWrong, got)
					}
					return err
				},
			})
		}
		return acts
	})
}

// TestSparseIndexFaults is [TestVectorStoreFaults] for a [rag.SparseIndex].
func TestSparseIndexFaults(t *testing.T, address string, open func(t *testing.T, address string) rag.SparseIndex) {
	t.Helper()
	k := indexKind[rag.SparseIndex]{
		put: func(ctx context.Context, s rag.SparseIndex, c, version string, n int) error {
			recs := make([]rag.TextRecord, n)
			for i := range recs {
				recs[i] = rag.TextRecord{ID: faultyID(i), DocID: "d", Text: fmt.Sprintf("harbour wall%d", i), Meta: rag.Meta{"version": version}}
			}
			return s.Upsert(ctx, c, recs)
		},
		search: func(ctx context.Context, s rag.SparseIndex, c string, f rag.Filter) ([]rag.Match, error) {
			return s.Search(ctx, c, rag.SparseQuery{Text: "harbour", K: 2 * manyRecords, Filter: f})
		},
	}
	runFaults(t, address, open, k.acts)
}

// Records of a call: a few, and so many that stores need several requests for them.
const (
	fewRecords  = 5
	manyRecords = 1001
)

func faultyID(i int) string { return fmt.Sprintf("r%05d", i) }

// indexKind is what the checks need of vector stores or of sparse indexes, whose records have versions.
type indexKind[S interface {
	Delete(ctx context.Context, collection string, ids []string) error
}] struct {
	put    func(ctx context.Context, s S, collection, version string, n int) error
	search func(ctx context.Context, s S, collection string, f rag.Filter) ([]rag.Match, error) // for all
}

// first writes n records in their first version.
func (k indexKind[S]) first(n int) func(context.Context, S, string) error {
	return func(ctx context.Context, s S, c string) error { return k.put(ctx, s, c, "1", n) }
}

// has checks that there are the records up to all, each once, as many as are there before in the version they had, or in
// the one they get; and if the call is done, all in that.
func (k indexKind[S]) has(before, all int, had, gets string) func(context.Context, S, string, bool) error {
	return func(ctx context.Context, s S, c string, done bool) error {
		count := map[string]int{}
		for _, version := range []string{"1", "2"} {
			found, err := k.search(ctx, s, c, rag.Eq("version", version))
			if err != nil {
				return err
			}
			for _, m := range found {
				if count[m.ID]++; version != gets && (done || version != had) {
					return fmt.Errorf("%s is there in version %s; done: %v", m.ID, version, done)
				}
			}
		}
		for i := range all {
			n := count[faultyID(i)]
			delete(count, faultyID(i))
			if n > 1 || n == 0 && (done || i < before) {
				return fmt.Errorf("%s is there %d times; done: %v", faultyID(i), n, done)
			}
		}
		if len(count) > 0 {
			return fmt.Errorf("there are also %v", count)
		}
		return nil
	}
}

// acts are the calls of a store like s.
func (k indexKind[S]) acts(s S) []act[S] {
	few := k.first(fewRecords)
	acts := []act[S]{
		{name: "first Upsert", do: few, holds: k.has(0, fewRecords, "1", "1")},
		{
			name: "Upsert of known IDs", prepare: few, holds: k.has(fewRecords, fewRecords, "1", "2"),
			do: func(ctx context.Context, s S, c string) error { return k.put(ctx, s, c, "2", fewRecords) },
		},
		{name: "Upsert of many", do: k.first(manyRecords), holds: k.has(0, manyRecords, "1", "1"), cuts: []Fault{CutBefore}},
		{
			name: "Search", prepare: few, holds: k.has(fewRecords, fewRecords, "1", "1"),
			do: func(ctx context.Context, s S, c string) error {
				got, err := k.search(ctx, s, c, rag.Filter{})
				if err == nil && len(got) != fewRecords {
					return fmt.Errorf("%w: %d of %d matches", errWrong, len(got), fewRecords)
				}
				return err
			},
		},
		{
			name: "Delete", prepare: few,
			do: func(ctx context.Context, s S, c string) error {
				return s.Delete(ctx, c, []string{faultyID(fewRecords - 2), faultyID(fewRecords - 1), "none"})
			},
			holds: func(ctx context.Context, s S, c string, done bool) error {
				if done {
					return k.has(fewRecords-2, fewRecords-2, "1", "1")(ctx, s, c, true)
				}
				return k.has(fewRecords-2, fewRecords, "1", "1")(ctx, s, c, false)
			},
		},
	}
	if _, ok := any(s).(rag.IDLister); ok {
		acts = append(acts, act[S]{name: "IDs", prepare: few, holds: k.has(fewRecords, fewRecords, "1", "1"), do: listsAll[S]})
	}
	if _, ok := any(s).(rag.Dropper); ok {
		acts = append(acts, act[S]{
			name: "Drop", prepare: few,
			do: func(ctx context.Context, s S, c string) error { return any(s).(rag.Dropper).Drop(ctx, c) },
			holds: func(ctx context.Context, s S, c string, done bool) error {
				if done {
					return k.has(0, 0, "1", "1")(ctx, s, c, true)
				}
				return k.has(0, fewRecords, "1", "1")(ctx, s, c, false)
			},
		})
	}
	return acts
}

// listsAll lists the few records.
func listsAll[S any](ctx context.Context, s S, c string) error {
	n := 0
	for _, err := range any(s).(rag.IDLister).IDs(ctx, c) {
		if err != nil {
			return err
		}
		n++
	}
	if n != fewRecords {
		return fmt.Errorf("%w: %d of %d IDs", errWrong, n, fewRecords)
	}
	return nil
}
