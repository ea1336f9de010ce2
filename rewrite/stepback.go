package rewrite

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// StepBackConfig sets up a [StepBack].
type StepBackConfig struct {
	Weight float64 `json:"weight,omitzero" range:"(0,1000]"` // of the general question beside the asked one's 1; 0: 0.5
	AskConfig
}

// StepBack is the transformer "step_back": a chat model asks the more general question behind one about a single case,
// whose answer holds the rule for it (Zheng and others, "Take a step back: evoking reasoning via abstraction in large
// language models", ICLR 2024).
type StepBack struct {
	ask *asker
	c   StepBackConfig
}

var _ rag.QueryTransformer = (*StepBack)(nil)

const stepBackTask = `You prepare questions for a search. You are shown a question. If it is about a single case, ask the one more general question whose answer holds the rule or the background for it, in the language of the question. Keep the subject; leave out names, dates and amounts that only the case has. If there is no more general question worth asking, give none. Answer nothing. Reply with JSON only: {"questions": ["…"]}.`

// NewStepBack returns the transformer over a chat model. Without one, and with wrong settings, it is ErrInvalid.
func NewStepBack(model rag.ChatModel, c StepBackConfig) (*StepBack, error) {
	var err error
	if c.Weight, err = checkWeight("step_back", c.Weight, besideQuestion); err != nil {
		return nil, err
	}
	ask, err := newAsker("step_back", stepBackTask, questionsSchema, model, c.AskConfig)
	if err != nil {
		return nil, err
	}
	return &StepBack{ask, c}, nil
}

// Rewrite adds the general question, if there is one.
func (s *StepBack) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	found, did, err := s.ask.askQuestions(ctx, req.Query, 1)
	if err != nil {
		return rag.Rewritten{}, err
	}
	return rag.Rewritten{Also: subQueries(found, s.c.Weight), Detail: did.detail()}, nil
}
