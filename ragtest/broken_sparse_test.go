package ragtest_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/fusion"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
)

func init() {
	maps.Copy(broken, brokenSparse)
	maps.Copy(broken, brokenFusers)
}

type brokenCase = struct {
	sentence string
	run      func(t *testing.T)
}

var brokenSparse = map[string]brokenCase{
	"index with ties in reverse": {"equal scores are ordered by ID", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			got, err := x.BM25.Search(ctx, c, q)
			slices.SortFunc(got, func(a, b rag.Match) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
			})
			return got, err
		}
	})},
	"index that ignores filters": {"every filter operator selects as Filter.Match does", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			if err := q.Filter.Validate(); err != nil {
				return nil, err
			}
			q.Filter = rag.Filter{}
			return x.BM25.Search(ctx, c, q)
		}
	})},
	"index that ignores phrases": {"a quoted phrase stands in every match, or is ErrUnsupported", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			q.Match.Phrase = false
			return x.BM25.Search(ctx, c, q)
		}
	})},
	"index that ignores prefixes": {"a word with a star stands for all that begin so, or is ErrUnsupported", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			q.Match.Prefix = false
			return x.BM25.Search(ctx, c, q)
		}
	})},
	"index that is always fuzzy": {"a fuzzy word finds those few letters away, after those that are equal, or is ErrUnsupported", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			q.Match.Fuzzy = rag.MaxFuzzy
			return x.BM25.Search(ctx, c, q)
		}
	})},
	"index that ignores deletes": {"deleted records are gone, and absent IDs are no error", indexThat(func(x *brokenIndex) {
		x.delete = func(context.Context, string, []string) error { return nil }
	})},
	"index whose statistics remember": {"adding, deleting and adding again leaves no trace in ranks and scores", indexThat(func(x *brokenIndex) {
		x.delete = func(ctx context.Context, c string, ids []string) error {
			var ghosts []rag.TextRecord
			for _, id := range ids {
				ghosts = append(ghosts, rag.TextRecord{ID: id, Text: "ghost"})
			}
			return x.Upsert(ctx, c, ghosts)
		}
	})},
	"index that answers everything": {"a query without words gives none", indexThat(func(x *brokenIndex) {
		x.search = func(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
			q.Text += " harbour"
			return x.BM25.Search(ctx, c, q)
		}
	})},
	"index that forgets": {"an index that is opened again finds all", func(t *testing.T) {
		ragtest.TestSparseIndex(t, func(t *testing.T, _ string) rag.SparseIndex { return memoryBM25(t) })
	}},
}

func memoryBM25(t *testing.T) *sparse.BM25 {
	x, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// brokenIndex is a good index of which one method is replaced.
type brokenIndex struct {
	*sparse.BM25
	search func(context.Context, string, rag.SparseQuery) ([]rag.Match, error)
	delete func(context.Context, string, []string) error
}

func indexThat(breakIt func(*brokenIndex)) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestSparseIndex(t, func(t *testing.T, _ string) rag.SparseIndex {
			x := &brokenIndex{BM25: memoryBM25(t)}
			x.search, x.delete = x.BM25.Search, x.BM25.Delete
			breakIt(x)
			return x
		}, ragtest.Volatile())
	}
}

func (x *brokenIndex) Search(ctx context.Context, c string, q rag.SparseQuery) ([]rag.Match, error) {
	return x.search(ctx, c, q)
}

func (x *brokenIndex) Delete(ctx context.Context, c string, ids []string) error {
	return x.delete(ctx, c, ids)
}

var brokenFusers = map[string]brokenCase{
	"fuser that counts repetitions": {"a document twice in one list counts once, at its best place", fuserThat(func(fuse rag.Fuser, lists []rag.Ranking) []rag.Match {
		var single []rag.Ranking // each match a list of its own, so that nothing is seen to be repeated
		for _, l := range lists {
			for i := range l.Matches {
				single = append(single, rag.Ranking{Stage: l.Stage, Weight: l.Weight / float64(i+1), Matches: l.Matches[i : i+1]})
			}
		}
		return fuse(single)
	})},
	"fuser that ignores weights": {"a list of weight 0 is left out", fuserThat(func(fuse rag.Fuser, lists []rag.Ranking) []rag.Match {
		lists = slices.Clone(lists)
		for i := range lists {
			lists[i].Weight = 1
		}
		return fuse(lists)
	})},
	"fuser that sorts its input": {"the same lists give the same result, and they are not changed", fuserThat(func(fuse rag.Fuser, lists []rag.Ranking) []rag.Match {
		for _, l := range lists {
			slices.SortFunc(l.Matches, func(a, b rag.Match) int { return cmp.Compare(a.ID, b.ID) })
		}
		return fuse(lists)
	})},
	"fuser that keeps the first ten": {"every document of a list is in the result exactly once", fuserThat(func(fuse rag.Fuser, lists []rag.Ranking) []rag.Match {
		got := fuse(lists)
		return got[:min(10, len(got))]
	})},
}

func fuserThat(breakIt func(rag.Fuser, []rag.Ranking) []rag.Match) func(*testing.T) {
	return func(t *testing.T) {
		fuse, err := fusion.RRF(fusion.RRFConfig{})
		if err != nil {
			t.Fatal(err)
		}
		ragtest.TestFuser(t, func(lists []rag.Ranking) []rag.Match { return breakIt(fuse, lists) })
	}
}
