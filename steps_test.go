package rag_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// asking is a transformer that asks once for each document, and falls back where the model is down.
type asking struct{ down *bool }

func (asking) Fingerprint() string { return "asking/v1" }

func (a asking) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	steps := rag.StepsOf(ctx)
	err := steps.Spend("asking", 2)
	if err == nil {
		steps.Answered("asking", !*a.down)
	}
	if err != nil || *a.down {
		reason := "down"
		if err != nil {
			reason = err.Error()
		}
		steps.Count(rag.StepCount{Step: "asking", Fallbacks: 1, Reason: reason})
	}
	for i := range chunks {
		chunks[i].Title, chunks[i].Validity = "mine", rag.Validity{Stated: true}
		chunks[i].Meta = rag.Meta{"team": "mine", "answer": "yes"}
	}
	return chunks, nil
}

func TestFallbacksAreCountedAndDoneAgain(t *testing.T) {
	down := true
	f := newFixture(t, rag.WithTransformers(asking{&down}))
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		f.write(name, "---\nteam: ovens\n---\n# Title\n\nText of "+name)
	}
	one := func(r *rag.IngestRequest) { r.Sources = []rag.Sources{rag.Files(f.docs + "/a.md")} }
	rep := f.ingest(one)
	if diff := cmp.Diff([]rag.StepCount{{Step: "asking", Calls: 1, Fallbacks: 1, Reason: "down"}}, rep.Steps); diff != "" || rep.Added != 1 {
		t.Errorf("%s%+v", diff, rep)
	}
	dry := f.ingest(func(r *rag.IngestRequest) { one(r); r.DryRun = true })
	if len(dry.Plan) != 1 || dry.Plan[0].Reason != "pipeline changed: a chat model did not answer last time" {
		t.Errorf("%+v", dry.Plan)
	}
	down = false
	if rep = f.ingest(one); rep.Updated != 1 || rep.Embedded != 0 || len(rep.Steps) != 1 || rep.Steps[0].Fallbacks != 0 {
		t.Errorf("the model is up again: %+v", rep)
	}
	if rep = f.ingest(one); rep.Unchanged != 1 {
		t.Errorf("nothing is left to do: %+v", rep)
	}
	// Two calls an ingest: of three documents one is left for the next.
	if rep = f.ingest(func(r *rag.IngestRequest) { r.Force = true }); len(rep.Steps) != 1 || rep.Steps[0].Calls != 2 || rep.Steps[0].Fallbacks != 1 || !strings.Contains(rep.Steps[0].Reason, "max_llm_calls") {
		t.Errorf("over the budget: %+v", rep.Steps)
	}
	if rep = f.ingest(nil); rep.Updated != 1 || rep.Unchanged != 2 {
		t.Errorf("the next ingest goes on: %+v", rep)
	}
	for c, err := range f.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Title != "Title" || c.Meta["team"] != "ovens" || c.Meta["answer"] != "yes" || c.Validity.Stated {
			t.Errorf("a transformer changed what the document says of itself: %q %v", c.Title, c.Meta)
		}
	}
}

func TestAModelThatFailsIsNotAskedForEver(t *testing.T) {
	steps := rag.StepsOf(t.Context())
	for range 4 {
		if err := steps.Spend("x", -1); err != nil {
			t.Fatal(err)
		}
		steps.Answered("x", false)
	}
	if err := steps.Spend("x", -1); err != nil {
		t.Fatal(err)
	}
	steps.Answered("x", true)
	for range 5 {
		if err := steps.Spend("x", -1); err != nil {
			t.Fatal(err)
		}
		steps.Answered("x", false)
	}
	if err := steps.Spend("x", -1); !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("after five failures in a row: error %v", err)
	}
	if err := steps.Spend("y", 0); !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("a budget of none: error %v", err)
	}
}
