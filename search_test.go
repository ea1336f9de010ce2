package rag_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

func TestOneLaneFailingLeavesTheOther(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "A text about opals.")
	f.ingest(nil)
	f.embedder.Before = func(_ context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			return rag.ErrUnavailable
		}
		return nil
	}
	res := f.search(rag.Query{Text: "opals"})
	if len(res.Hits) != 1 || res.Mode != rag.Sparse || len(res.Notes) != 1 || res.Notes[0].Stage != rag.StageDense {
		t.Errorf("%+v", res)
	}
	res, err := f.Search(t.Context(), rag.Query{Text: "opals", Mode: rag.Dense})
	if !errors.Is(err, rag.ErrUnavailable) || res == nil || len(res.Hits) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAQuestionInAForeignLanguageLeavesTheDenseLaneOut(t *testing.T) {
	f := newFixture(t)
	f.embedder.Languages = []string{"en"}
	f.write("a.txt", "年假有十五天。The annual leave is fifteen days.")
	f.ingest(nil)
	res := f.search(rag.Query{Text: "年假有几天？"})
	if res.Mode != rag.Sparse || len(res.Notes) != 1 || len(res.Hits) != 1 {
		t.Errorf("%+v", res)
	}
	if res := f.search(rag.Query{Text: "how long is the annual leave?"}); res.Mode != rag.Hybrid || len(res.Notes) != 0 {
		t.Errorf("%+v", res)
	}
}

func TestRerankOrdersAndFallsBack(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "Short opal.")
	f.write("b.txt", "A longer text about the opal and its colours.")
	f.ingest(nil)
	f.Close()
	f.open(rag.WithReranker(byLength{}))
	res := f.search(rag.Query{Text: "opal", Explain: true})
	if got := names(res); !slices.Equal(got, []string{"b.txt", "a.txt"}) {
		t.Errorf("order %v", got)
	}
	span := res.Trace.Stages[4]
	if span.Moves == nil || span.Moves.MovedUp != 1 || span.Moves.MovedDown != 1 || span.Moves.MaxGain != 1 {
		t.Errorf("moves %+v", span.Moves)
	}
	f.Close()
	f.open(rag.WithReranker(byLength{err: errors.New("model is asleep")}))
	res = f.search(rag.Query{Text: "opal"})
	if len(res.Hits) != 2 || len(res.Notes) != 1 || res.Notes[0].Stage != rag.StageRerank {
		t.Errorf("%+v", res)
	}
	if _, ok := res.Hits[0].RankAt(rag.StageRerank); ok {
		t.Error("a failed reranker left a rank")
	}
}

// byLength prefers long texts.
type byLength struct{ err error }

func (r byLength) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, s := range texts {
		scores[i] = float64(len(s))
	}
	return scores, r.err
}

func TestExplainSaysWhereAChunkWasLost(t *testing.T) {
	f := newFixture(t)
	for i := range 30 {
		f.write(fmt.Sprintf("d%02d.txt", i), strings.Repeat("opal ", 30-i)+fmt.Sprintf("filler%d words.", i))
	}
	f.write("other.md", "---\nkind: rock\n---\nNothing in common.")
	f.ingest(nil)
	var last rag.Chunk
	for c, err := range f.Chunks(t.Context(), "", rag.Eq("kind", "rock")) {
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	q := rag.Query{Text: "opal", TopK: 3}
	x, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: last.ID})
	if err != nil {
		t.Fatal(err)
	}
	if x.Returned || x.Stages[1].Rank != nil || !strings.Contains(x.Stages[1].Reason, "no word in common") {
		t.Errorf("%+v", x)
	}
	q.Filter = rag.Not(rag.Eq("kind", "rock"))
	if x, err = f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: last.ID}); err != nil || !strings.Contains(x.Verdict, "filter") {
		t.Errorf("%+v, %v", x, err)
	}
	hit := f.search(q).Hits[0].Chunk.ID
	if x, err = f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: hit}); err != nil || !x.Returned || *x.Rank != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: "nope"}); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("unknown chunk: %v", err)
	}
}

func TestAFilterOnAnUnknownFieldIsSaid(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "---\ntopic: kitchen\n---\nHow to sharpen a knife.")
	f.ingest(nil)
	res := f.search(rag.Query{Text: "knife", Filter: rag.Not(rag.Not(rag.Eq("topc", "kitchen")))})
	if len(res.Hits) != 0 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, `did you mean "topic"`) {
		t.Errorf("%+v", res)
	}
	if res = f.search(rag.Query{Text: "knife", Filter: rag.Eq("topic", "garden")}); len(res.Notes) != 0 {
		t.Errorf("a known field without a match: %+v", res.Notes)
	}
}

func TestValidityStatedInMetadata(t *testing.T) {
	f := newFixture(t)
	f.write("old.md", "---\nvalid_until: 2025-12-31\n---\nThe fee is 90.")
	f.write("new.md", "---\nvalid_from: 2026-01-01\nvalid_until: 2026-12-31\n---\nThe fee is 98.")
	f.write("undated.md", "---\nvalid_until: soon\n---\nThe fee is due in May.")
	f.ingest(nil)
	for day, want := range map[string]map[string]string{
		"2025-12-31": {"old.md": "current", "undated.md": "needs_review"}, // the last day counts
		"2026-01-01": {"new.md": "current", "undated.md": "needs_review"},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
			got := map[string]string{}
			for _, h := range f.search(rag.Query{Text: "the fee", AsOf: at, Mode: mode}).Hits {
				got[filepath.Base(h.Chunk.URI)] = h.Status
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: %s", day, mode, diff)
			}
		}
	}
}

func TestBadQueries(t *testing.T) {
	f := newFixture(t)
	if _, err := f.Search(t.Context(), rag.Query{Text: "x"}); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("empty engine: %v", err)
	}
	f.write("a.txt", "Some text.")
	f.ingest(nil)
	for name, q := range map[string]rag.Query{
		"empty":        {Text: " \n"},
		"top_k":        {Text: "x", TopK: -1},
		"large top_k":  {Text: "x", TopK: rag.MaxTopK + 1},
		"not UTF-8":    {Text: "caf\xe9"},
		"mode":         {Text: "x", Mode: "hybird"},
		"filter":       {Text: "x", Filter: rag.Filter{Op: "equals", Field: "a", Value: "b"}},
		"filter value": {Text: "x", Filter: rag.Eq("a", struct{}{})},
	} {
		if _, err := f.Search(t.Context(), q); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Search(t.Context(), rag.Query{Text: "x", Collection: "default2"}); !errors.Is(err, rag.ErrNotFound) || !strings.Contains(err.Error(), `"default"`) {
		t.Errorf("collection: %v", err)
	}
}
