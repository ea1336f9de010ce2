package rag_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// noted is a list that several goroutines write.
type noted struct {
	mu   sync.Mutex
	list []string
}

func (n *noted) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *noted) sorted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(slices.Values(n.list))
}

// rewriter is a query transformer made of a function.
type rewriter func(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error)

func (f rewriter) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	return f(ctx, req)
}

// says is a transformer that always gives the same.
func says(r rag.Rewritten) rewriter {
	return func(context.Context, rag.RewriteRequest) (rag.Rewritten, error) { return r, nil }
}

func TestATransformAddsToTheQuestion(t *testing.T) {
	also := []rag.SubQuery{{Text: "owls hunt"}}
	f := animals(t, rag.WithQueryTransformers(says(rag.Rewritten{Also: also, Detail: map[string]any{"calls": 1}})))
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse, Explain: true}
	res := f.search(q)
	if len(res.Hits) != 2 || len(res.Rewrites) != 1 || len(res.Notes) != 0 {
		t.Fatalf("hits %v, rewrites %v, notes %v", names(res), res.Rewrites, res.Notes)
	}
	want := rag.Rewrite{Method: "rag_test.rewriter", Original: q.Text, Text: q.Text, Also: also, Detail: map[string]any{"calls": 1}}
	got := res.Rewrites[0]
	got.ElapsedMS = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := span(t, res, rag.StageQuery).Detail["rewrites"]; !ok {
		t.Error("the trace does not tell of the transform")
	}
	q.AsIs = true
	if res := f.search(q); len(res.Hits) != 1 || len(res.Rewrites) != 0 {
		t.Errorf("as it is: hits %v, rewrites %v", names(res), res.Rewrites)
	}
}

// Whatever a transform does, the question that stands for itself is looked up.
func TestATransformCannotTakeAQuestionAway(t *testing.T) {
	f := animals(t, rag.WithQueryTransformers(says(rag.Rewritten{Text: "owls hunt"})))
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse}
	res := f.search(q)
	if len(res.Hits) != 2 || res.Rewrites[0].Text != q.Text || res.Rewrites[0].Also[0].Text != "owls hunt" {
		t.Errorf("hits %v, rewrites %+v", names(res), res.Rewrites)
	}
	q.Turns = []rag.ChatMessage{{Role: rag.RoleUser, Text: "Which birds are there?"}}
	res = f.search(q)
	if diff := cmp.Diff([]string{"owls.md"}, names(res)); diff != "" || res.Query != q.Text || res.Rewrites[0].Original != q.Text || res.Rewrites[0].Text != "owls hunt" {
		t.Errorf("after a conversation: %s, rewrites %+v", diff, res.Rewrites)
	}
}

// Those behind the one that made a question of its own of a follow-up see that question, and no conversation.
func TestTransformsSeeWhatTheFirstMadeOfAFollowUp(t *testing.T) {
	var seen noted
	note := func(name string, out rag.Rewritten) rewriter {
		return func(_ context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
			if len(req.Turns) > 0 {
				name += " after a conversation"
			}
			seen.add(name + ": " + req.Query)
			return out, nil
		}
	}
	f := animals(t, rag.WithQueryTransformers(
		note("1", rag.Rewritten{}), note("2", rag.Rewritten{Text: "where do owls live"}), note("3", rag.Rewritten{Also: []rag.SubQuery{{Text: "nests"}}}), note("4", rag.Rewritten{})))
	res := f.search(rag.Query{Text: "where do they live", Turns: []rag.ChatMessage{{Role: rag.RoleUser, Text: "Tell me of owls"}}})
	want := []string{"1 after a conversation: where do they live", "2 after a conversation: where do they live", "3: where do owls live", "4: where do owls live"}
	if diff := cmp.Diff(want, seen.sorted()); diff != "" {
		t.Error(diff)
	}
	if len(res.Rewrites) != 4 || res.Rewrites[2].Also[0].Text != "nests" {
		t.Errorf("rewrites %+v, want the four in their order", res.Rewrites)
	}
}

func TestATransformThatFailsLeavesTheQuestion(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	for name, c := range map[string]struct {
		transform rewriter
		reason    string
		status    string
	}{
		"error": {func(context.Context, rag.RewriteRequest) (rag.Rewritten, error) {
			return rag.Rewritten{}, errors.New("no model")
		}, "no model", rag.SpanFailed},
		"panic":         {func(context.Context, rag.RewriteRequest) (rag.Rewritten, error) { panic("oh") }, "the transformer gave up (panic: oh)", rag.SpanFailed},
		"time-out":      {func(context.Context, rag.RewriteRequest) (rag.Rewritten, error) { <-never; return rag.Rewritten{}, nil }, "no reply within 1ms", rag.SpanFailed},
		"bad sub-query": {says(rag.Rewritten{Text: "x", Also: []rag.SubQuery{{Text: ""}}}), "sub-query 1: the text is empty", rag.SpanFailed},
		"fallback":      {says(rag.Rewritten{Fallback: "by rules"}), "by rules", ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := rag.DefaultConfig()
			if name == "time-out" {
				config.Retrieval.RewriteMS = 1
			}
			f := animals(t, rag.WithQueryTransformers(c.transform), rag.WithConfig(config))
			res := f.search(rag.Query{Text: "owls hunt", Mode: rag.Sparse})
			if diff := cmp.Diff([]string{"owls.md"}, names(res)); diff != "" {
				t.Error(diff)
			}
			r := res.Rewrites[0]
			if r.Status != c.status || !strings.Contains(r.Reason, c.reason) || r.Text != "owls hunt" || len(r.Also) != 0 {
				t.Errorf("rewrite %+v", r)
			}
			if len(res.Notes) != 1 || res.Notes[0].Stage != rag.StageQuery || !strings.Contains(res.Notes[0].Reason, c.reason) {
				t.Errorf("notes %v", res.Notes)
			}
		})
	}
}

func TestTransformsLeaveAQuotedPhrase(t *testing.T) {
	f := animals(t, rag.WithQueryTransformers(says(rag.Rewritten{Also: []rag.SubQuery{{Text: "owls"}}})))
	res := f.search(rag.Query{Text: `"platform nine"`, Match: rag.TextMatch{Phrase: true}})
	if diff := cmp.Diff([]string{"trains.md"}, names(res)); diff != "" || res.Rewrites[0].Status != rag.SpanLeftOut {
		t.Errorf("%s, rewrites %+v", diff, res.Rewrites)
	}
}

func TestTransformsGiveNoMoreThanThereIsRoomFor(t *testing.T) {
	var ten []rag.SubQuery
	for i := range 10 {
		ten = append(ten, rag.SubQuery{Text: "wording " + string(rune('a'+i))})
	}
	f := animals(t, rag.WithQueryTransformers(says(rag.Rewritten{Also: ten}), says(rag.Rewritten{Also: ten})))
	res := f.search(rag.Query{Text: "owls"})
	if len(res.Rewrites[0].Also) != 10 || len(res.Rewrites[1].Also) != rag.MaxSubQueries-10 || len(res.Notes) != 1 {
		t.Errorf("%d and %d sub-queries, notes %v", len(res.Rewrites[0].Also), len(res.Rewrites[1].Also), res.Notes)
	}
}

func TestExplainAsksNoTransformAgain(t *testing.T) {
	var calls noted
	f := animals(t, rag.WithQueryTransformers(rewriter(func(_ context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
		calls.add(req.Query)
		return rag.Rewritten{Also: []rag.SubQuery{{Text: "owls hunt"}}}, nil
	})))
	q := rag.Query{Text: "platform nine", Mode: rag.Sparse}
	id := f.search(q).Hits[1].Chunk.ID
	x, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: id})
	if err != nil || !x.Returned || !x.Stages[1].Kept || len(calls.sorted()) != 2 {
		t.Errorf("error %v, explained as %+v after %d calls, want one of the search and one of Explain", err, x, len(calls.sorted()))
	}
}

func TestAnUnknownTransformIsAnErrorAtOpen(t *testing.T) {
	config := rag.DefaultConfig()
	config.Embedder.Provider = rag.None
	config.QueryTransforms = []rag.ProviderConfig{{Provider: "nonsense"}}
	if _, err := rag.Open(t.TempDir(), rag.WithConfig(config)); !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), "query_transforms") {
		t.Errorf("error %v", err)
	}
}
