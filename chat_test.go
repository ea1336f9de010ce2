package rag_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestReplyIsWhole(t *testing.T) {
	broken := errors.New("broken")
	pieces := []rag.ChatDelta{
		{Text: "one "}, {Text: "two", Calls: []rag.ToolCall{{ID: "1", Name: "search"}}},
		{Usage: rag.ChatUsage{InputTokens: 3, OutputTokens: 2}, Stop: rag.StopTools}, {Calls: []rag.ToolCall{{ID: "2", Name: "read"}}},
	}
	whole := rag.ChatDelta{
		Text: "one two", Calls: []rag.ToolCall{{ID: "1", Name: "search"}, {ID: "2", Name: "read"}},
		Usage: rag.ChatUsage{InputTokens: 3, OutputTokens: 2}, Stop: rag.StopTools,
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	for name, c := range map[string]struct {
		gone bool  // nobody waits any more
		err  error // of the model, behind the pieces
		most int
		want rag.ChatDelta
		is   error
	}{
		"as long as it may be": {false, nil, len("one two"), whole, nil},
		"too long":             {false, nil, len("one tw"), rag.ChatDelta{Text: "one two", Calls: whole.Calls[:1]}, rag.ErrUnavailable},
		"an error behind it":   {false, rag.ErrInvalid, 99, whole, rag.ErrInvalid},
		"nobody waits":         {true, nil, 99, whole, broken},
		"nobody waits for one": {true, rag.ErrInvalid, 99, whole, broken},
	} {
		model := chatFunc(func(context.Context, rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
			return func(yield func(rag.ChatDelta, error) bool) {
				for _, p := range pieces {
					if !yield(p, nil) {
						return
					}
				}
				if c.err != nil {
					yield(rag.ChatDelta{}, c.err)
				}
			}
		})
		ctx := t.Context()
		if c.gone {
			ctx = gone
		}
		got, err := rag.Reply(ctx, model, rag.ChatRequest{}, c.most)
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v\n%s", name, err, c.is, diff)
		}
		if err != nil && strings.Contains(name, "too long") && !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
