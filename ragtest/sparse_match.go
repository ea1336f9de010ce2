package ragtest

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// wantMatching is wantIDs for a query with a Match. An index that says that it cannot do it is passed over.
func (h *sparseHost) wantMatching(query string, m rag.TextMatch, f rag.Filter, want ...string) {
	h.Helper()
	got, err := h.it.Search(h.Context(), sparseCollection, rag.SparseQuery{Text: query, K: 100, Filter: f, Match: m})
	if errors.Is(err, rag.ErrUnsupported) {
		h.Skip("unsupported")
	}
	if err != nil {
		h.Fatalf("search for %s: %v", query, err)
	}
	if ids := matchIDs(got); !slices.Equal(ids, want) {
		h.Errorf("search for %s with %+v: got %v, want %v", query, m, ids, want)
	}
}

func sparsePhrase(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour pilot boat wall chart"), text("b", "pilot harbour boat"), text("c", "harbour pilot"), text("d", "mountain harbour"))
	phrase := rag.TextMatch{Phrase: true}
	h.wantMatching(`"harbour pilot"`, phrase, rag.Filter{}, "c", "a")
	h.wantMatching(`"harbour pilot" "boat wall"`, phrase, rag.Filter{}, "a")
	h.wantMatching(`mountain "pilot boat"`, phrase, rag.Filter{}, "a")
	h.wantMatching(`"boat pilot"`, phrase, rag.Filter{})
	h.wantMatching(`"harbour glacier"`, phrase, rag.Filter{})
	h.wantMatching(`harbour "mountain`, phrase, rag.Filter{}, "d", "c", "b", "a") // not closed
	h.wantMatching(`"harbour pilot"`, phrase, rag.Eq("kind", "x"))
	h.add(text("c", "pilot"), text("e", "harbour pilot"))
	h.remove("a")
	h.wantMatching(`"harbour pilot"`, phrase, rag.Filter{}, "e")
	h.reopen()
	h.wantMatching(`"harbour pilot"`, phrase, rag.Filter{}, "e")
	h.wantIDs(`"harbour glacier"`, "d", "e", "b")
}

func sparsePrefix(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"), text("b", "harvest"), text("c", "mountain"))
	prefix := rag.TextMatch{Prefix: true}
	h.wantMatching("har*", prefix, rag.Filter{}, "a", "b")
	h.wantMatching("harv*", prefix, rag.Filter{}, "b")
	h.wantMatching("HARV* mountain", prefix, rag.Filter{}, "b", "c")
	h.wantMatching("glac*", prefix, rag.Filter{})
	h.wantMatching("*", prefix, rag.Filter{})
	h.remove("b")
	h.reopen()
	h.wantMatching("har*", prefix, rag.Filter{}, "a")
}

func sparseFuzzy(_ *testing.T, h *sparseHost) {
	h.add(text("a", "harbour wall"), text("b", "harbours"), text("c", "labour"), text("d", "arbour"), text("e", "hut"))
	h.wantMatching("harbuor", rag.TextMatch{}, rag.Filter{})
	h.wantMatching("muntain harbuor", rag.TextMatch{Fuzzy: 1}, rag.Filter{})
	h.wantMatching("arboor", rag.TextMatch{Fuzzy: 1}, rag.Filter{}, "d")
	h.wantMatching("arbour", rag.TextMatch{Fuzzy: 1}, rag.Filter{}, "d", "b", "a")
	h.wantMatching("ht", rag.TextMatch{Fuzzy: 2}, rag.Filter{})
	h.wantMatching("harbuor", rag.TextMatch{Fuzzy: 2}, rag.Filter{}, "b", "a")
	h.reopen()
	h.wantMatching("arboor", rag.TextMatch{Fuzzy: 1}, rag.Filter{}, "d")
}

func sparseInvalidMatch(t *testing.T, h *sparseHost) {
	h.add(text("a", "harbour"))
	for _, n := range []int{-1, rag.MaxFuzzy + 1} {
		_, err := h.it.Search(t.Context(), sparseCollection, rag.SparseQuery{Text: "harbour", K: 1, Match: rag.TextMatch{Fuzzy: n}})
		if !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("fuzzy %d: got %v, want ErrInvalid", n, err)
		}
	}
}
