package agent

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// maxReply is how many bytes of a reply are read: what is longer has no end.
const maxReply = 256 << 10

// complete returns a model's whole reply and the calls that it asks for.
func complete(ctx context.Context, model rag.ChatModel, req rag.ChatRequest) (text string, reply rag.ChatDelta, err error) {
	var b strings.Builder
	for delta, err := range model.Chat(ctx, req) {
		if err != nil {
			return b.String(), reply, err
		}
		if b.WriteString(delta.Text); b.Len() > maxReply {
			return "", reply, fmt.Errorf("the reply does not end: %w", rag.ErrUnavailable)
		}
		reply.Calls = append(reply.Calls, delta.Calls...)
		reply.Usage.Add(delta.Usage)
		if delta.Stop != "" {
			reply.Stop = delta.Stop
		}
	}
	return b.String(), reply, ctx.Err()
}

// observed is how many characters of an observation a step keeps, as in System C.
const observed = 200

// clip cuts a text to what a step keeps of it, in one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= observed {
		return s
	}
	n := 0
	for i := range s {
		if n == observed {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
