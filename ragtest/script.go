package ragtest

import (
	"cmp"
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
	// Turns, if not empty, are played in place of Replies, one for each call; after the last one the last again.
	Turns []Turn
	// Reply, if not nil, answers in place of Replies and Turns.
	Reply func(req rag.ChatRequest) string
	// Err, if not nil, ends each reply after its first piece.
	Err error

	mu       sync.Mutex
	requests []rag.ChatRequest
}

var _ rag.ChatModel = (*Script)(nil)

// Turn is one reply of a [Script]: its text in small pieces, then each call in a piece of its own, then Usage and the
// reason to stop, StopTools where there are calls and StopEnd where there are none.
type Turn struct {
	Text  string
	Calls []rag.ToolCall
	Usage rag.ChatUsage
	Err   error // if not nil, it takes the place of the last piece: what came before it was shown
}

// pieceBytes is how much of a reply comes at once.
const pieceBytes = 7

// Chat streams the next reply. Its errors are those of ctx, Err and the Turn.
func (s *Script) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(rag.ChatDelta{}, err)
			return
		}
		pieces, end := s.next(req)
		for _, piece := range pieces {
			if !yield(piece, nil) {
				return
			}
			if err := cmp.Or(ctx.Err(), s.Err); err != nil {
				yield(rag.ChatDelta{}, err)
				return
			}
		}
		if end != nil {
			yield(rag.ChatDelta{}, end)
		}
	}
}

// next notes the request and returns the pieces of its reply and the error that ends them.
func (s *Script) next(req rag.ChatRequest) ([]rag.ChatDelta, error) {
	s.mu.Lock()
	at := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	switch {
	case s.Reply != nil:
		return inPieces(s.Reply(req)), s.Err
	case len(s.Turns) > 0:
		turn := s.Turns[min(at, len(s.Turns)-1)]
		if turn.Err != nil {
			return turn.pieces(), turn.Err
		}
		return append(turn.pieces(), turn.last()), s.Err
	case len(s.Replies) == 0:
		return nil, s.Err
	}
	return inPieces(s.Replies[min(at, len(s.Replies)-1)]), s.Err
}

// pieces returns the turn without its last piece.
func (t Turn) pieces() []rag.ChatDelta {
	pieces := inPieces(t.Text)
	for _, call := range t.Calls {
		pieces = append(pieces, rag.ChatDelta{Calls: []rag.ToolCall{call}})
	}
	return pieces
}

// last returns the piece that ends the turn.
func (t Turn) last() rag.ChatDelta {
	if len(t.Calls) > 0 {
		return rag.ChatDelta{Usage: t.Usage, Stop: rag.StopTools}
	}
	return rag.ChatDelta{Usage: t.Usage, Stop: rag.StopEnd}
}

// inPieces cuts text as it would be streamed: not always between letters.
func inPieces(text string) []rag.ChatDelta {
	var pieces []rag.ChatDelta
	for piece := range slices.Chunk([]byte(text), pieceBytes) {
		pieces = append(pieces, rag.ChatDelta{Text: string(piece)})
	}
	return pieces
}

// Requests returns what was asked so far.
func (s *Script) Requests() []rag.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}
