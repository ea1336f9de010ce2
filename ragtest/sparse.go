package ragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestSparseIndex checks that an index keeps the contract of [rag.SparseIndex]. open returns an index that keeps its
// data in dir, an existing folder: one that is opened again after Close has what was written, unless it is [Volatile].
// The suite closes what it opened if it is an io.Closer. The index must find English words; how it stems and weighs
// them is its own affair.
func TestSparseIndex(t *testing.T, open func(t *testing.T, dir string) rag.SparseIndex, list ...Trait) {
	t.Helper()
	for _, c := range []struct {
		sentence string
		check    func(*testing.T, *sparseHost)
	}{
		{"a search finds the records that share a term with the query, best first", sparseFinds},
		{"an index that is opened again finds all", sparseReopens},
		{"an upsert replaces the record of the same ID", sparseReplaces},
		{"equal scores are ordered by ID", sparseTies},
		{"an unknown collection gives none and is no error", sparseUnknown},
		{"collections do not see each other", sparseApart},
		{"K 0 gives none, and a K above the number of matches gives them all", sparseK},
		{"an empty batch changes nothing", sparseEmptyBatch},
		{"a query without words gives none", sparseNoWords},
		{"a record without words is kept and matches nothing", sparseWordless},
		{"deleted records are gone, and absent IDs are no error", sparseDeletes},
		{"the slices of a call are the caller's again when it returns", sparseSlices},
		{"every filter operator selects as Filter.Match does", sparseFilters},
		{"a filtered search gives exactly min(K, matches), whatever the selectivity", sparseSelectivity},
		{"an invalid filter is ErrInvalid", sparseInvalidFilter},
		{"a quoted phrase stands in every match, or is ErrUnsupported", sparsePhrase},
		{"a word with a star stands for all that begin so, or is ErrUnsupported", sparsePrefix},
		{"a fuzzy word finds those few letters away, after those that are equal, or is ErrUnsupported", sparseFuzzy},
		{"a fuzzy word of too many letters is ErrInvalid, or ErrUnsupported", sparseInvalidMatch},
		{"IDs yields every record once", sparseIDs},
		{"a dropped collection is empty and can be used again", sparseDrop},
		{"adding, deleting and adding again leaves no trace in ranks and scores", sparseNoTrace},
		{"goroutines may write and search at once", sparseConcurrent},
		{"a cancelled context ends a call with its error", sparseCancelled},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			tr := traitsOf(list)
			tr.skipExcepted(t, c.sentence)
			c.check(t, &sparseHost{onTrial(t, open, tr)})
		})
	}
}

// sparseHost is an index on trial.
type sparseHost struct{ *trial[rag.SparseIndex] }

// sparseCollection is where the checks write.
const sparseCollection = "books"

func (h *sparseHost) add(recs ...rag.TextRecord) {
	h.Helper()
	if err := h.it.Upsert(h.Context(), sparseCollection, recs); err != nil {
		h.Fatalf("upsert of %d records: %v", len(recs), err)
	}
}

func (h *sparseHost) remove(ids ...string) {
	h.Helper()
	if err := h.it.Delete(h.Context(), sparseCollection, ids); err != nil {
		h.Fatalf("delete of %v: %v", ids, err)
	}
}

func (h *sparseHost) find(q rag.SparseQuery) []rag.Match {
	h.Helper()
	matches, err := h.it.Search(h.Context(), sparseCollection, q)
	if err != nil {
		h.Fatalf("search for %q: %v", q.Text, err)
	}
	return matches
}

// wantIDs checks the IDs of the matches of a query in order.
func (h *sparseHost) wantIDs(query string, want ...string) {
	h.Helper()
	if got := matchIDs(h.find(rag.SparseQuery{Text: query, K: 100})); !slices.Equal(got, want) {
		h.Errorf("search for %q: got %v, want %v", query, got, want)
	}
}

func text(id, s string) rag.TextRecord {
	return rag.TextRecord{ID: id, DocID: "doc-" + id, Text: s, Language: "en"}
}

func sparseFinds(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour pilot boat"), text("b", "harbour harbour wall"), text("c", "mountain hut"))
	h.wantIDs("mountain", "c")
	h.wantIDs("harbour", "b", "a")
	h.wantIDs("glacier")
	got := h.find(rag.SparseQuery{Text: "harbour pilot", K: 100})
	if ids := matchIDs(got); !slices.Equal(ids, []string{"a", "b"}) {
		t.Fatalf("got %v, want a, which has both words, then b", ids)
	}
	if !(got[0].Score > got[1].Score) {
		t.Errorf("scores %v do not descend", got)
	}
}

func sparseReopens(t *testing.T, h *sparseHost) {
	if h.volatile {
		t.Skip("volatile")
	}
	h.add(text("a", "harbour pilot"), text("b", "mountain hut"))
	h.add(text("c", "harbour wall"))
	h.remove("b")
	query := rag.SparseQuery{Text: "harbour pilot mountain", K: 10}
	want := h.find(query)
	for range 2 {
		h.reopen()
		if diff := gocmp.Diff(want, h.find(query)); diff != "" {
			t.Errorf("after opening again (-want +got):\n%s", diff)
		}
	}
	h.add(text("d", "mountain"))
	h.wantIDs("mountain", "d")
}

func sparseReplaces(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"), text("b", "harbour wall"))
	h.add(text("a", "mountain"))
	h.wantIDs("harbour", "b")
	h.wantIDs("mountain", "a")
	h.add(text("a", "mountain"))
	h.wantIDs("mountain", "a")
}

func sparseTies(_ *testing.T, h *sparseHost) {
	h.add(text("c", "harbour"), text("a", "harbour"))
	h.add(text("d", "harbour"))
	h.add(text("b", "harbour"))
	h.wantIDs("harbour", "a", "b", "c", "d")
	if got := matchIDs(h.find(rag.SparseQuery{Text: "harbour", K: 2})); !slices.Equal(got, []string{"a", "b"}) {
		h.Errorf("K 2: got %v, want [a b]", got)
	}
}

func sparseUnknown(t *testing.T, h *sparseHost) {
	h.wantIDs("harbour")
	h.remove("a")
	h.wantIDs("harbour")
	if l, ok := h.it.(rag.IDLister); ok {
		for id, err := range l.IDs(t.Context(), sparseCollection) {
			t.Errorf("IDs yields %q, %v", id, err)
		}
	}
}

func sparseApart(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"))
	if err := h.it.Upsert(t.Context(), "films", []rag.TextRecord{text("a", "mountain"), text("b", "mountain")}); err != nil {
		t.Fatal(err)
	}
	h.wantIDs("harbour", "a")
	h.wantIDs("mountain")
	h.remove("a", "b")
	got, err := h.it.Search(t.Context(), "films", rag.SparseQuery{Text: "mountain", K: 10})
	if err != nil || !slices.Equal(matchIDs(got), []string{"a", "b"}) {
		t.Errorf("the other collection: got %v, %v, want [a b]", got, err)
	}
}

func sparseK(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour wall"), text("b", "harbour"), text("c", "mountain"))
	all := h.find(rag.SparseQuery{Text: "harbour", K: 1_000_000})
	if len(all) != 2 {
		t.Errorf("K 1,000,000: got %v, want 2 matches", all)
	}
	for k := range 3 {
		if got := h.find(rag.SparseQuery{Text: "harbour", K: k}); len(got) != k || k > 0 && !slices.Equal(got, all[:k]) {
			t.Errorf("K %d: got %v, want the first %d of %v", k, got, k, all)
		}
	}
}

func sparseEmptyBatch(_ *testing.T, h *sparseHost) {
	h.add()
	h.remove()
	h.add(text("a", "harbour"))
	h.add()
	h.remove()
	h.wantIDs("harbour", "a")
}

func sparseNoWords(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour ??? !"), text("b", "… --- …"))
	for _, q := range []string{"", " \n\t", "???", "-- … !", "\xff\xfe", "\u0000"} {
		h.wantIDs(q)
	}
}

func sparseWordless(_ *testing.T, h *sparseHost) {
	h.add(text("a", ""), text("b", "???"), text("c", "harbour"))
	h.wantIDs("harbour", "c")
	h.add(text("a", "harbour"))
	h.wantIDs("harbour", "a", "c")
	h.remove("b")
	h.wantIDs("harbour", "a", "c")
}

func sparseDeletes(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"), text("b", "harbour"), text("c", "harbour"))
	h.remove("b", "absent", "b")
	h.wantIDs("harbour", "a", "c")
	h.remove("b")
	h.reopen()
	h.wantIDs("harbour", "a", "c")
	h.remove("a", "c")
	h.wantIDs("harbour")
	h.add(text("b", "harbour"))
	h.wantIDs("harbour", "b")
}

func sparseSlices(t *testing.T, h *sparseHost) {
	recs := []rag.TextRecord{{ID: "a", Text: "harbour", Meta: rag.Meta{"kind": "x"}}}
	h.add(recs...)
	recs[0].Meta["kind"] = "y"
	recs[0] = text("z", "mountain")
	got := h.find(rag.SparseQuery{Text: "harbour", K: 10, Filter: rag.Eq("kind", "x")})
	if !slices.Equal(matchIDs(got), []string{"a"}) {
		t.Fatalf("got %v, want [a]", got)
	}
	got[0] = rag.Match{}
	h.wantIDs("harbour", "a")
}

func sparseInvalidFilter(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"))
	for _, f := range []rag.Filter{{Op: "like", Field: "x"}, {Op: rag.OpEq}, rag.Not(rag.Filter{Op: rag.OpRange, Field: "n"})} {
		if got, err := h.it.Search(t.Context(), sparseCollection, rag.SparseQuery{Text: "harbour", K: 1, Filter: f}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%+v: got %v, %v, want ErrInvalid", f, got, err)
		}
	}
}

func sparseIDs(t *testing.T, h *sparseHost) {
	l, ok := h.it.(rag.IDLister)
	if !ok {
		t.Skip("not an rag.IDLister")
	}
	h.add(text("b", "harbour"), text("a", ""), text("c", "wall"))
	h.add(text("b", "mountain"), text("d", "hut"))
	h.remove("c")
	var got []string
	for id, err := range l.IDs(t.Context(), sparseCollection) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	slices.Sort(got)
	if want := []string{"a", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, err := range l.IDs(t.Context(), sparseCollection) {
		if err != nil {
			t.Fatal(err)
		}
		break // must not disturb what follows
	}
	h.wantIDs("hut", "d")
}

func sparseDrop(t *testing.T, h *sparseHost) {
	d, ok := h.it.(rag.Dropper)
	if !ok {
		t.Skip("not a rag.Dropper")
	}
	h.add(text("a", "harbour"), text("b", "mountain"))
	for range 2 { // the second time the collection is unknown
		if err := d.Drop(t.Context(), sparseCollection); err != nil {
			t.Fatal(err)
		}
		h.wantIDs("harbour")
	}
	h.add(text("c", "harbour"))
	h.wantIDs("harbour", "c")
	h.reopen()
	h.wantIDs("harbour", "c")
	h.wantIDs("mountain")
}

func sparseConcurrent(t *testing.T, h *sparseHost) {
	const writers, searchers, rounds = 4, 16, 15
	h.add(text("stays", "harbour harbour"))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				id := fmt.Sprintf("w%d-%d", w, r)
				if err := h.it.Upsert(t.Context(), sparseCollection, []rag.TextRecord{text(id, "harbour wall")}); err != nil {
					t.Errorf("upsert: %v", err)
				}
				if r%2 == 1 {
					if err := h.it.Delete(t.Context(), sparseCollection, []string{id}); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			}
		})
	}
	for range searchers {
		wg.Go(func() {
			for range rounds {
				got, err := h.it.Search(t.Context(), sparseCollection, rag.SparseQuery{Text: "harbour", K: 1000})
				if err != nil || !slices.Contains(matchIDs(got), "stays") {
					t.Errorf("search: got %v, %v: the record that nobody touches is missing", got, err)
				}
			}
		})
	}
	wg.Wait()
	want := 1 + writers*(rounds+1)/2
	if got := h.find(rag.SparseQuery{Text: "harbour", K: 1000}); len(got) != want {
		t.Errorf("afterwards: got %d matches, want %d", len(got), want)
	}
}

func sparseCancelled(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.it.Upsert(ctx, sparseCollection, []rag.TextRecord{text("b", "harbour")}); !errors.Is(err, context.Canceled) {
		t.Errorf("upsert: got %v", err)
	}
	if _, err := h.it.Search(ctx, sparseCollection, rag.SparseQuery{Text: "harbour", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: got %v", err)
	}
	if err := h.it.Delete(ctx, sparseCollection, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: got %v", err)
	}
	h.wantIDs("harbour", "a")
}

// day is an instant for validity checks.
func day(n int) time.Time { return time.Date(2026, time.January, n, 0, 0, 0, 0, time.UTC) }
