package rewrite

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// DecomposeConfig sets up a [Decompose].
type DecomposeConfig struct {
	Mode   string  `json:"mode"`                             // Rules or LLM; "": LLM if there is a chat model
	Max    int     `json:"max,omitzero" range:"[1,3]"`       // parts; 0: Most; 1 to Most
	Weight float64 `json:"weight,omitzero" range:"(0,1000]"` // of each part beside the whole question's 1; 0: 0.5
	AskConfig
}

// Decompose is the transformer "decompose": it looks up the parts of a question that asks several things, each of which
// has its own passages ("least-to-most prompting", Zhou and others, ICLR 2023). The rules see several questions in a row
// and comparisons, in the languages of their patterns; a model also sees what has to be known first.
type Decompose struct {
	ask *asker // nil: rules
	c   DecomposeConfig
}

var _ rag.QueryTransformer = (*Decompose)(nil)

const decomposeTask = `You prepare questions for a search. You are shown a question. If it asks several things, or its answer has to be put together from several passages, give up to three simpler questions that ask for one thing each and together cover it. Each must be understood alone: repeat names and conditions, use no pronouns, keep the language. If the question is simple, give none. Answer nothing. Reply with JSON only: {"questions": ["…"]}.`

// NewDecompose returns the transformer; the model may be nil in mode rules. With wrong settings it is ErrInvalid.
func NewDecompose(model rag.ChatModel, c DecomposeConfig) (*Decompose, error) {
	var err error
	if c.Mode, err = modeFor(c.Mode, model); err != nil {
		return nil, err
	}
	if c.Max, err = checkMost("decompose", c.Max); err != nil {
		return nil, err
	}
	if c.Weight, err = checkWeight("decompose", c.Weight, besideQuestion); err != nil {
		return nil, err
	}
	d := &Decompose{c: c}
	if c.Mode == LLM {
		if d.ask, err = newAsker("decompose", decomposeTask, questionsSchema, model, c.AskConfig); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Rewrite adds the parts of a question that has some.
func (d *Decompose) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	if err := ctx.Err(); err != nil {
		return rag.Rewritten{}, err
	}
	var fallback string
	if d.ask != nil {
		found, did, err := d.ask.askQuestions(ctx, req.Query, d.c.Max)
		if err == nil {
			return rag.Rewritten{Also: subQueries(found, d.c.Weight), Detail: did.detail()}, nil
		}
		if ctx.Err() != nil {
			return rag.Rewritten{}, ctx.Err()
		}
		fallback = "its rules were used: " + err.Error()
	}
	return rag.Rewritten{Also: subQueries(distinct(req.Query, parts(req.Query), d.c.Max), d.c.Weight), Fallback: fallback}, nil
}
