package rag_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// TestMatch checks that a search hands its Match to the word index, and that no lane brings what lacks a phrase.
func TestMatch(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "# Leave\n\nAnnual leave is 25 days.\n")
	f.write("b.md", "# Reports\n\nThe annual report lists sick leave.\n")
	f.ingest(nil)
	for _, c := range []struct {
		name string
		q    rag.Query
		want []string
		mode rag.Mode
	}{
		{"words", rag.Query{Text: `"annual leave"`}, []string{"a.md", "b.md"}, rag.Hybrid},
		{"phrase", rag.Query{Text: `"annual leave"`, Match: rag.TextMatch{Phrase: true}}, []string{"a.md"}, rag.Sparse},
		{"phrase on without quotes", rag.Query{Text: "annual leave", Match: rag.TextMatch{Phrase: true}}, []string{"a.md", "b.md"}, rag.Hybrid},
		{"a quote that is not closed", rag.Query{Text: `25" annual leave`, Match: rag.TextMatch{Phrase: true}}, []string{"a.md", "b.md"}, rag.Hybrid},
		{"prefix", rag.Query{Text: "rep*", Mode: rag.Sparse, Match: rag.TextMatch{Prefix: true}}, []string{"b.md"}, rag.Sparse},
		{"fuzzy", rag.Query{Text: "report", Mode: rag.Sparse, Match: rag.TextMatch{Fuzzy: 1}}, []string{"b.md"}, rag.Sparse},
		{"phrase by vectors alone", rag.Query{Text: `"annual leave"`, Mode: rag.Dense, Match: rag.TextMatch{Phrase: true}}, []string{"a.md", "b.md"}, rag.Dense},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := f.search(c.q)
			got := names(res)
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), c.want) || res.Mode != c.mode {
				t.Errorf("got %v by %s, want %v by %s", got, res.Mode, c.want, c.mode)
			}
			noted := slices.ContainsFunc(res.Notes, func(n rag.Note) bool { return n.Stage == rag.StageDense })
			if quoted := c.q.Match.Phrase && c.q.Text[0] == '"'; noted != quoted {
				t.Errorf("notes %v, want one on the dense lane: %v", res.Notes, quoted)
			}
		})
	}
	if _, err := f.Search(t.Context(), rag.Query{Text: "x", Match: rag.TextMatch{Fuzzy: 3}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("fuzzy 3: got %v, want ErrInvalid", err)
	}
}
