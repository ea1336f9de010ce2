package ragtest_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func init() { maps.Copy(broken, brokenChat) }

// brokenChat are broken chat models.
var brokenChat = map[string]brokenCase{
	"chat model that takes a break for the end": {"a reply that breaks off is ErrUnavailable, not an end", chatThat(func(m *player) {
		m.faults[ragtest.ChatCut] = nil
	})},
	"chat model that shows its key": {"a key that is refused is ErrInvalid, and stands in no error", chatThat(func(m *player) {
		m.faults[ragtest.ChatRefusesKey] = fmt.Errorf("wrong key %s: %w", ragtest.ChatKey, rag.ErrInvalid)
	})},
	"chat model that gives up for good when busy": {"a service that is busy is ErrUnavailable", chatThat(func(m *player) {
		m.faults[ragtest.ChatBusy] = rag.ErrInvalid
	})},
	"chat model that asks about nothing": {"a question that cannot be right is ErrInvalid, and is not sent", chatThat(func(m *player) {
		m.check = func(rag.ChatRequest) error { return nil }
	})},
	"chat model that asks at once": {"nothing is sent before the sequence is ranged over, and anew each time", chatThat(func(m *player) {
		m.eager = true
	})},
	"chat model that counts nothing": {"text comes in order and in pieces, usage and the reason to stop with the last one", chatThat(func(m *player) {
		m.last = func(d rag.ChatDelta) rag.ChatDelta { d.Usage = rag.ChatUsage{}; return d }
	})},
	"chat model that gives calls one ID": {"calls come whole, each with an ID of its own", chatThat(func(m *player) {
		m.last = func(d rag.ChatDelta) rag.ChatDelta {
			for i := range d.Calls {
				d.Calls[i].ID = "call"
			}
			return d
		}
	})},
}

func TestAChatModelThatIsRight(t *testing.T) { chatThat(func(*player) {})(t) }

func chatThat(breakIt func(*player)) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestChatModel(t, func(_ *testing.T, scene ragtest.ChatScene) rag.ChatModel {
			m := &player{
				scene: scene, check: checkRequest,
				last: func(d rag.ChatDelta) rag.ChatDelta { return d },
				faults: map[ragtest.ChatFault]error{
					ragtest.ChatRefusesKey: rag.ErrInvalid, ragtest.ChatNoModel: rag.ErrNotFound, ragtest.ChatBusy: rag.ErrUnavailable,
					ragtest.ChatCut: rag.ErrUnavailable, ragtest.ChatGarbage: rag.ErrUnavailable,
				},
			}
			breakIt(m)
			return m
		})
	}
}

// player is a chat model without a service.
type player struct {
	scene  ragtest.ChatScene
	check  func(rag.ChatRequest) error
	last   func(rag.ChatDelta) rag.ChatDelta
	faults map[ragtest.ChatFault]error
	eager  bool
}

func checkRequest(req rag.ChatRequest) error {
	for _, m := range req.Messages {
		if m.Role == "oracle" || m.Role == rag.RoleTool && m.CallID == "" || len(m.Images) > 0 && len(m.Images[0].Data) == 0 {
			return rag.ErrInvalid
		}
	}
	if len(req.Messages) == 0 {
		return rag.ErrInvalid
	}
	return nil
}

func (m *player) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	if m.eager {
		m.scene.Asked()
	}
	return func(yield func(rag.ChatDelta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(rag.ChatDelta{}, err)
			return
		}
		if err := m.check(req); err != nil {
			yield(rag.ChatDelta{}, err)
			return
		}
		m.scene.Asked()
		if err := m.play(ctx, func(d rag.ChatDelta) bool { return yield(d, nil) }); err != nil {
			yield(rag.ChatDelta{}, err)
		}
	}
}

// play shows the reply in pieces of its text and a last one.
func (m *player) play(ctx context.Context, show func(rag.ChatDelta) bool) error {
	fault := m.scene.Fault
	if fault != "" && fault != ragtest.ChatCut && fault != ragtest.ChatHangs {
		return m.faults[fault]
	}
	half := len(m.scene.Text) / 2
	more := show(rag.ChatDelta{Text: m.scene.Text[:half]})
	switch {
	case fault == ragtest.ChatCut:
		return m.faults[fault]
	case fault == ragtest.ChatHangs && more:
		<-ctx.Done()
		m.scene.Gone()
		return ctx.Err()
	case !more:
		m.scene.Gone()
		return nil
	}
	stop := rag.StopEnd
	if len(m.scene.Calls) > 0 {
		stop = rag.StopTools
	}
	if show(rag.ChatDelta{Text: m.scene.Text[half:]}) {
		show(m.last(rag.ChatDelta{Calls: append([]rag.ToolCall{}, m.scene.Calls...), Usage: m.scene.Usage, Stop: stop}))
	}
	return nil
}
