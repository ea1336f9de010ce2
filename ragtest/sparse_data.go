package ragtest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// filteredRecords is the number of records of the filter checks: one of them is a selectivity of 0.01 %.
const filteredRecords = 10_000

// addFiltered fills the index with records that all have the word "harbour", with fields of each kind, some missing,
// and validities of each shape.
func (h *sparseHost) addFiltered() []rag.TextRecord {
	h.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	recs := make([]rag.TextRecord, filteredRecords)
	for i := range recs {
		r := text(fmt.Sprintf("r%05d", i), "harbour"+strings.Repeat(" wall", rnd.IntN(4)))
		r.Meta = rag.Meta{"n": float64(i), "kind": []string{"memo", "form", "rule"}[i%3]}
		if i%2 == 0 {
			r.Meta["tags"] = [][]string{{"red"}, {"red", "blue"}, {}, {"green"}}[i/2%4]
		}
		if i%5 == 0 {
			r.Meta["open"] = i%10 == 0
			r.Meta["date"] = day(1 + i%28).Format([]string{"2006-01-02", "2006-01-02T15:04:05Z"}[i/28%2])
		}
		switch i % 4 {
		case 1:
			r.Validity = rag.Validity{From: day(10), Stated: true}
		case 2:
			r.Validity = rag.Validity{Until: day(10), Stated: true}
		case 3:
			r.Validity = rag.Validity{From: day(5), Until: day(20), Stated: true}
		}
		recs[i] = r
	}
	for batch := range slices.Chunk(recs, 1000) {
		h.add(batch...)
	}
	return recs
}

func sparseFilters(t *testing.T, h *sparseHost) {
	recs := h.addFiltered()
	unfiltered := h.find(rag.SparseQuery{Text: "harbour wall", K: filteredRecords})
	if len(unfiltered) != filteredRecords {
		t.Fatalf("without a filter: got %d matches, want %d", len(unfiltered), filteredRecords)
	}
	byID := map[string]rag.TextRecord{}
	for _, r := range recs {
		byID[r.ID] = r
	}
	for _, f := range []rag.Filter{
		rag.Eq("kind", "form"), rag.Eq("n", 17), rag.Eq("open", true), rag.Eq("tags", "blue"), rag.Eq("nowhere", "x"),
		rag.In("kind", "memo", "rule"), rag.In("n", 1, 2, 3, "4"), rag.In("tags", "green", "blue"), rag.In("kind"),
		rag.Range("n", rag.Bounds{GTE: 100, LT: 200}), rag.Range("n", rag.Bounds{GT: 9990}), rag.Range("n", rag.Bounds{LTE: 0}),
		rag.Range("date", rag.Bounds{GTE: "2026-01-10", LTE: "2026-01-20"}), rag.Range("date", rag.Bounds{GT: "2026-01-10", LT: "2026-01-20"}), rag.Range("kind", rag.Bounds{GT: "form"}),
		rag.Prefix("kind", "r"), rag.Prefix("tags", "gr"), rag.Prefix("n", "1"),
		rag.Exists("open"), rag.Exists("tags"), rag.Exists("nowhere"),
		rag.ValidAt(day(1)), rag.ValidAt(day(10)), rag.ValidAt(day(20)),
		rag.And(rag.Eq("kind", "form"), rag.Exists("open"), rag.ValidAt(day(7))), rag.And(),
		rag.Or(rag.Eq("n", 5), rag.Eq("open", false)), rag.Or(),
		rag.Not(rag.Eq("kind", "form")), rag.Not(rag.Exists("tags")), rag.Not(rag.Not(rag.Eq("open", true))),
	} {
		var want []rag.Match
		for _, m := range unfiltered {
			if r := byID[m.ID]; f.Match(r.Meta, r.Validity) {
				want = append(want, m)
			}
		}
		for _, k := range []int{10, filteredRecords} {
			got := h.find(rag.SparseQuery{Text: "harbour wall", K: k, Filter: f})
			if !slices.Equal(got, want[:min(k, len(want))]) {
				t.Errorf("%+v with K %d: got %d matches %v…, want %d of %d, %v…", f, k,
					len(got), matchIDs(got[:min(3, len(got))]), min(k, len(want)), len(want), matchIDs(want[:min(3, len(want))]))
			}
		}
	}
}

func sparseSelectivity(t *testing.T, h *sparseHost) {
	h.addFiltered()
	for _, matching := range []int{filteredRecords, 1000, 100, 10, 1, 0} {
		// Taken from the end, so that an index that stops early at the first candidates fails.
		f := rag.Range("n", rag.Bounds{GTE: filteredRecords - matching})
		for _, k := range []int{1, 10, 500} {
			if got := h.find(rag.SparseQuery{Text: "harbour", K: k, Filter: f}); len(got) != min(k, matching) {
				t.Errorf("%d of %d records match the filter, K %d: got %d", matching, filteredRecords, k, len(got))
			}
		}
	}
}

// sparseNoTrace changes an index at random and compares it now and then with a fresh one of the same content.
func sparseNoTrace(t *testing.T, h *sparseHost) {
	const rounds, compareEvery = 1000, 50
	rnd := rand.New(rand.NewPCG(3, 9))
	words := strings.Fields("harbour wall pilot boat mountain hut glacier river bridge ferry island lamp rope chart")
	content := map[string]rag.TextRecord{}
	for round := 1; round <= rounds; round++ {
		if rnd.IntN(3) > 0 {
			var recs []rag.TextRecord
			for _, n := range rnd.Perm(60)[:1+rnd.IntN(4)] {
				r := text(fmt.Sprintf("d%02d", n), randomText(rnd, words))
				content[r.ID] = r
				recs = append(recs, r)
			}
			h.add(recs...)
		} else {
			for _, n := range rnd.Perm(60)[:1+rnd.IntN(8)] {
				id := fmt.Sprintf("d%02d", n)
				delete(content, id)
				h.remove(id)
			}
		}
		if round%(4*compareEvery) == 0 {
			h.reopen()
		}
		if round%compareEvery == 0 {
			h.compareWithFresh(content, words)
		}
	}
}

func randomText(rnd *rand.Rand, words []string) string {
	var b strings.Builder
	for range rnd.IntN(12) {
		b.WriteString(words[rnd.IntN(len(words))] + " ")
	}
	return b.String()
}

func (h *sparseHost) compareWithFresh(content map[string]rag.TextRecord, words []string) {
	h.Helper()
	fresh := &sparseHost{onTrial(h.T, h.opener, h.traits)}
	fresh.add(slices.Collect(maps.Values(content))...)
	// The last digit may depend on the order of a sum.
	near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) })
	for i := range words {
		query := rag.SparseQuery{Text: strings.Join(words[i:min(i+3, len(words))], " "), K: 20}
		if diff := gocmp.Diff(fresh.find(query), h.find(query), near); diff != "" {
			h.Fatalf("search for %q (-fresh +changed):\n%s", query.Text, diff)
		}
	}
}
