package rag_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// animals is a fixture in which each file is about something of its own.
func animals(t *testing.T, opts ...rag.Option) *fixture {
	t.Helper()
	f := newFixture(t, opts...)
	f.write("ducks.md", "# Ducks\n\nDucks swim on ponds and eat weed.\n")
	f.write("owls.md", "# Owls\n\nOwls hunt mice at night.\n")
	f.write("trains.md", "# Trains\n\nTrains leave from platform nine.\n")
	f.ingest(nil)
	return f
}

func span(t *testing.T, res *rag.Result, stage string) rag.Span {
	t.Helper()
	for _, s := range res.Trace.Stages {
		if s.Stage == stage {
			return s
		}
	}
	t.Fatalf("the trace has no stage %s", stage)
	return rag.Span{}
}

func TestSubQueriesFindWhatTheQuestionDoesNot(t *testing.T) {
	f := animals(t)
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse, Explain: true}
	if diff := cmp.Diff([]string{"trains.md"}, names(f.search(q))); diff != "" {
		t.Fatal(diff)
	}
	q.Also = []rag.SubQuery{{Text: "ducks on ponds"}, {Text: "owls hunt", Weight: 2}}
	res := f.search(q)
	if got := names(res); !cmp.Equal(slices.Sorted(slices.Values(got)), []string{"ducks.md", "owls.md", "trains.md"}) || got[0] != "owls.md" {
		t.Errorf("hits %v, want all three, the one of weight 2 first", got)
	}
	for _, c := range span(t, res, rag.StageFusion).Candidates {
		if len(c.FoundBy) != 1 || c.SparseRank == nil || *c.SparseRank != 1 {
			t.Errorf("candidate %+v, want one text that found it, at rank 1", c)
		}
	}
	if s := span(t, res, rag.StageSparse); s.Out != 3 || len(s.Candidates) != 3 || s.Candidates[0].FoundBy[0] != 0 || s.Candidates[2].FoundBy[0] != 2 {
		t.Errorf("candidates of the lane %+v, want three in the order of the texts", s.Candidates)
	}
	looked := detail[[]rag.SubQuery](t, new(span(t, res, rag.StageQuery)), "looked_up")
	want := []rag.SubQuery{{Text: "platform nine", Weight: 1}, {Text: "ducks on ponds", Weight: 1}, {Text: "owls hunt", Weight: 2}}
	if diff := cmp.Diff(want, looked); diff != "" {
		t.Error(diff)
	}
	for _, h := range res.Hits {
		if len(h.Highlights) == 0 {
			t.Errorf("no word is marked in %q", h.Chunk.Text)
		}
	}
}

// A text that is looked up twice must not count twice, and without sub-queries nothing may change.
func TestSubQueriesThatRepeatTheQuestionChangeNothing(t *testing.T) {
	f := animals(t)
	q := rag.Query{Text: "owls hunt on ponds"}
	want := f.search(q)
	q.Also = []rag.SubQuery{{Text: "  owls hunt\n on ponds "}, {Text: "owls hunt on ponds", Role: rag.AsQuestion, Weight: 7}}
	got := f.search(q)
	if diff := cmp.Diff(want.Hits, got.Hits); diff != "" {
		t.Error(diff)
	}
}

// A lane shares its weight out: many texts in one lane do not drown the other.
func TestSubQueriesKeepTheWeightOfALane(t *testing.T) {
	var seen []rag.Ranking
	fuse := func(lists []rag.Ranking) []rag.Match {
		seen = lists
		return lists[0].Matches
	}
	f := animals(t, rag.WithFuser(fuse))
	f.search(rag.Query{Text: "owls", Also: []rag.SubQuery{{Text: "ducks"}, {Text: "Owls swim at night.", Role: rag.AsPassage, Weight: 2}}})
	var got []float64
	for _, l := range seen {
		got = append(got, math.Round(l.Weight*1000)/1000)
	}
	if diff := cmp.Diff([]float64{0.175, 0.175, 0.35, 0.5, 0.5}, got); diff != "" {
		t.Errorf("weights, dense 0.7 and sparse 1 shared out:\n%s", diff)
	}
}

func TestAPassageIsEmbeddedAsOneAndNotLookedForByWords(t *testing.T) {
	f := animals(t)
	roles := &rolesEmbedder{HashEmbedder: f.embedder}
	f.Close()
	f.open(rag.WithEmbedder(roles))
	q := rag.Query{Text: "platform", Also: []rag.SubQuery{{Text: "Ducks swim on ponds and eat weed.", Role: rag.AsPassage}}, Explain: true}
	res := f.search(q)
	if diff := cmp.Diff([]string{"passage Ducks swim on ponds and eat weed.", "question platform"}, roles.seen()); diff != "" {
		t.Error(diff)
	}
	if s := span(t, res, rag.StageSparse); s.Out != 1 {
		t.Errorf("the word lane found %d, want 1", s.Out)
	}
	q.Mode = rag.Sparse
	if got := names(f.search(q)); !cmp.Equal(got, []string{"trains.md"}) {
		t.Errorf("by words alone it found %v", got)
	}
}

func TestALaneGoesOnWithoutATextItCannotLookUp(t *testing.T) {
	f := animals(t)
	f.Close()
	f.open(rag.WithEmbedder(&rolesEmbedder{HashEmbedder: f.embedder, refuse: "broken"}))
	res := f.search(rag.Query{Text: "owls", Also: []rag.SubQuery{{Text: "broken"}}})
	if res.Mode != rag.Hybrid || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, `"broken" was not looked up`) {
		t.Errorf("mode %s, notes %v", res.Mode, res.Notes)
	}
}

func TestExplainFollowsSubQueries(t *testing.T) {
	f := animals(t)
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse, Also: []rag.SubQuery{{Text: "owls hunt"}}}
	id := ""
	for _, h := range f.search(q).Hits {
		if strings.Contains(h.Chunk.Text, "Owls") {
			id = h.Chunk.ID
		}
	}
	x, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: id})
	if err != nil {
		t.Fatal(err)
	}
	lane := x.Stages[1]
	if !x.Returned || lane.Stage != rag.StageSparse || lane.Rank == nil || *lane.Rank != 1 || !lane.Kept {
		t.Errorf("explained as %+v", x)
	}
}

// TestExtremeWeights: sums of weights do not overflow, and a text that weighs nothing beside the others is explained.
func TestExtremeWeights(t *testing.T) {
	f := animals(t)
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse, Also: []rag.SubQuery{{Text: "ducks on ponds", Weight: math.MaxFloat64}, {Text: "owls hunt", Weight: math.MaxFloat64}}}
	hits := f.search(q).Hits
	if len(hits) < 2 {
		t.Fatalf("%d hits, want those of the two that weigh most", len(hits))
	}
	q.Also[1].Weight = math.SmallestNonzeroFloat64
	for _, h := range hits {
		if _, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: h.Chunk.ID}); err != nil {
			t.Error(err)
		}
	}
}

func TestSubQueriesThatMakeNoSense(t *testing.T) {
	f := animals(t)
	for name, also := range map[string][]rag.SubQuery{
		"empty": {{Text: " \n"}}, "role": {{Text: "x", Role: "query"}}, "negative": {{Text: "x", Weight: -1}},
		"not a number": {{Text: "x", Weight: math.NaN()}}, "infinite": {{Text: "x", Weight: math.Inf(1)}},
		"too many": slices.Repeat([]rag.SubQuery{{Text: "x"}}, rag.MaxSubQueries+1),
	} {
		if _, err := f.Search(t.Context(), rag.Query{Text: "owls", Also: also}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}

// rolesEmbedder notes what it embeds, and refuses one text.
type rolesEmbedder struct {
	*ragtest.HashEmbedder
	refuse string
	noted  noted
}

func (e *rolesEmbedder) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	for _, text := range texts {
		e.noted.add(string(role) + " " + text)
		if text == e.refuse {
			return nil, errors.New("refused")
		}
	}
	return e.HashEmbedder.Embed(ctx, role, texts)
}

func (e *rolesEmbedder) seen() []string { return e.noted.sorted() }
