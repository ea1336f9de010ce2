package ragtest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// Script is a chat model that replays a list. It streams each reply in small pieces. The methods are safe for concurrent
// use; set the fields before the first call.
type Script struct {
	Replies []string // one for each call, in order; after the last one the last again
	// Reply, if not nil, answers in place of Replies.
	Reply func(req rag.ChatRequest) string
	// Err, if not nil, ends each reply after its first piece.
	Err error

	mu       sync.Mutex
	requests []rag.ChatRequest
}

var _ rag.ChatModel = (*Script)(nil)

// pieceBytes is how much of a reply comes at once.
const pieceBytes = 7

// Chat streams the next reply. Its errors are those of ctx and Err.
func (s *Script) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(rag.ChatDelta{}, err)
			return
		}
		for piece := range slices.Chunk([]byte(s.next(req)), pieceBytes) {
			if !yield(rag.ChatDelta{Text: string(piece)}, nil) {
				return
			}
			if err := s.Err; err != nil || ctx.Err() != nil {
				if err == nil {
					err = ctx.Err()
				}
				yield(rag.ChatDelta{}, err)
				return
			}
		}
		if s.Err != nil {
			yield(rag.ChatDelta{}, s.Err)
		}
	}
}

// next notes the request and returns its reply.
func (s *Script) next(req rag.ChatRequest) string {
	s.mu.Lock()
	at := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	switch {
	case s.Reply != nil:
		return s.Reply(req)
	case len(s.Replies) == 0:
		return ""
	}
	return s.Replies[min(at, len(s.Replies)-1)]
}

// Requests returns what was asked so far.
func (s *Script) Requests() []rag.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}
