package rewrite

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// HyDEConfig sets up a [HyDE].
type HyDEConfig struct {
	Weight float64 `json:"weight,omitzero" range:"(0,1000]"` // of the passage beside the question's 1; 0: 1
	AskConfig
}

// HyDE is the transformer "hyde": a chat model writes a passage such as an answer may stand in, and passages are looked
// for that are like it; it may be wrong in all particulars, for only what it is about counts (Gao, Ma, Lin and Callan,
// "Precise zero-shot dense retrieval without relevance labels", ACL 2023). The passage goes to the dense lane alone:
// words that a model made up are no words to look for.
type HyDE struct {
	ask *asker
	c   HyDEConfig
}

var _ rag.QueryTransformer = (*HyDE)(nil)

const hydeTask = `You are shown a question. Write a passage of two to four sentences, in the language of the question and in the style of the handbook, paper or manual that would answer it, as if it were taken from there. Do not address the reader or speak of the question. Reply with JSON only: {"passage": "…"}.`

var hydeSchema = json.RawMessage(`{"type":"object","properties":{"passage":{"type":"string"}},"required":["passage"],"additionalProperties":false}`)

// longestPassage is the most bytes of a passage that is compared: about 256 tokens, the length of the chunks it is
// compared with.
const longestPassage = 1200

// NewHyDE returns the transformer over a chat model. Without one, and with wrong settings, it is ErrInvalid.
func NewHyDE(model rag.ChatModel, c HyDEConfig) (*HyDE, error) {
	var err error
	if c.Weight, err = checkWeight("hyde", c.Weight, 1); err != nil {
		return nil, err
	}
	ask, err := newAsker("hyde", hydeTask, hydeSchema, model, c.AskConfig)
	if err != nil {
		return nil, err
	}
	return &HyDE{ask, c}, nil
}

// Rewrite adds a passage.
func (h *HyDE) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	var passage string
	did, err := h.ask.ask(ctx, prompt.Quote("question", req.Query), func(reply string) error {
		var r struct{ Passage string }
		if err := prompt.ReadJSON(reply, &r); err != nil {
			return err
		}
		if passage = oneLine(r.Passage, longestPassage); passage == "" {
			return errors.New("the reply is empty")
		}
		return nil
	})
	if err != nil {
		return rag.Rewritten{}, err
	}
	return rag.Rewritten{Also: []rag.SubQuery{{Text: passage, Role: rag.AsPassage, Weight: h.c.Weight}}, Detail: did.detail()}, nil
}
