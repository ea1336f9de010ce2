package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// HistoryConfig sets up a [History].
type HistoryConfig struct {
	Mode     string `json:"mode"`                                   // Rules or LLM; "": LLM if there is a chat model
	MaxTurns int    `json:"max_turns,omitzero" range:"[1,1000000]"` // messages before the question that are looked at, the last ones; 0: 10; at least 0
	AskConfig
}

// History is the transformer "history": it makes a question of its own of a follow-up ("and how long is it?"), which only
// the conversation before it explains. It is the one transformer after which the user's own words may not be looked up;
// without a conversation it does nothing.
//
// The rules see follow-ups by the words they begin with or point back with, in the languages of their lists, and add the
// key words of the question that began the subject. A model words the question anew.
type History struct {
	ask *asker // nil: rules
	c   HistoryConfig
}

var _ rag.QueryTransformer = (*History)(nil)

const historyTask = `You prepare questions for a search. You are shown a conversation and the question that follows it. If the question can only be understood with the conversation, word it so that it is understood alone: put the names and conditions of the conversation in place of pronouns and of what is left out. Keep its language and meaning; add nothing else and answer nothing. If it is understood as it is, repeat it unchanged. Reply with JSON only: {"question": "…"}.`

var historySchema = json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"}},"required":["question"],"additionalProperties":false}`)

// longestTurn is the most bytes of a message that a model is shown: what an answer is about stands at its beginning.
const longestTurn = 1000

// NewHistory returns the transformer; the model may be nil in mode rules. With wrong settings it is ErrInvalid.
func NewHistory(model rag.ChatModel, c HistoryConfig) (*History, error) {
	if c.MaxTurns < 0 {
		return nil, fmt.Errorf("history: max_turns must not be below 0: %w", rag.ErrInvalid)
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = 10
	}
	var err error
	if c.Mode, err = modeFor(c.Mode, model); err != nil {
		return nil, err
	}
	h := &History{c: c}
	if c.Mode == LLM {
		if h.ask, err = newAsker("history", historyTask, historySchema, model, c.AskConfig); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Rewrite gives a question that stands for itself, if there is a conversation and the question needs it.
func (h *History) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	if err := ctx.Err(); err != nil {
		return rag.Rewritten{}, err
	}
	turns := req.Turns[max(0, len(req.Turns)-h.c.MaxTurns):]
	if len(turns) == 0 {
		return rag.Rewritten{}, nil
	}
	if h.ask == nil {
		return rag.Rewritten{Text: followUp(req.Query, turns)}, nil
	}
	text, did, err := h.standalone(ctx, req.Query, turns)
	if err == nil {
		return rag.Rewritten{Text: text, Detail: did.detail()}, nil
	}
	if ctx.Err() != nil {
		return rag.Rewritten{}, ctx.Err()
	}
	return rag.Rewritten{Text: followUp(req.Query, turns), Fallback: "its rules were used: " + err.Error()}, nil
}

// marks are all that stand in the message to the model.
var marks = []string{rag.RoleUser, rag.RoleAssistant, "question"}

// standalone asks the model.
func (h *History) standalone(ctx context.Context, query string, turns []rag.ChatMessage) (string, asked, error) {
	var b strings.Builder
	for _, t := range turns {
		if t.Role == rag.RoleUser || t.Role == rag.RoleAssistant {
			b.WriteString(prompt.Quote(t.Role, oneLine(t.Text, longestTurn), marks...))
		}
	}
	b.WriteString(prompt.Quote("question", query, marks...))
	var text string
	did, err := h.ask.ask(ctx, b.String(), func(reply string) error {
		var r struct{ Question string }
		if err := prompt.ReadJSON(reply, &r); err != nil {
			return err
		}
		if text = strings.Join(strings.Fields(strings.ToValidUTF8(r.Question, " ")), " "); text == "" || len(text) > len(query)+longestQuestion {
			return errors.New("the reply is no question")
		}
		return nil
	})
	return text, did, err
}
