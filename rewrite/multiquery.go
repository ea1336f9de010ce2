package rewrite

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// MultiQueryConfig sets up a [MultiQuery].
type MultiQueryConfig struct {
	Max    int     `json:"max,omitzero" range:"[1,3]"`       // wordings; 0: Most; 1 to Most
	Weight float64 `json:"weight,omitzero" range:"(0,1000]"` // of each beside the question's 1; 0: 0.5
	AskConfig
}

// MultiQuery is the transformer "multi_query": a chat model words the question differently, so that passages are found
// that use other words for the same ("RAG-Fusion", Rackauckas, 2024).
type MultiQuery struct {
	ask *asker
	c   MultiQueryConfig
}

var _ rag.QueryTransformer = (*MultiQuery)(nil)

const multiQueryTask = `You word questions for a search. You are shown a question. Word it in up to three other ways that would find passages which say the same in other words: use synonyms, the terms that specialists use, spelled-out abbreviations. Keep the language of the question, its names, numbers and meaning; add no condition and answer nothing. Reply with JSON only: {"questions": ["…"]}.`

// NewMultiQuery returns the transformer over a chat model. Without one, and with wrong settings, it is ErrInvalid.
func NewMultiQuery(model rag.ChatModel, c MultiQueryConfig) (*MultiQuery, error) {
	var err error
	if c.Max, err = checkMost("multi_query", c.Max); err != nil {
		return nil, err
	}
	if c.Weight, err = checkWeight("multi_query", c.Weight, besideQuestion); err != nil {
		return nil, err
	}
	ask, err := newAsker("multi_query", multiQueryTask, questionsSchema, model, c.AskConfig)
	if err != nil {
		return nil, err
	}
	return &MultiQuery{ask, c}, nil
}

// Rewrite adds other wordings.
func (m *MultiQuery) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	found, did, err := m.ask.askQuestions(ctx, req.Query, m.c.Max)
	if err != nil {
		return rag.Rewritten{}, err
	}
	return rag.Rewritten{Also: subQueries(found, m.c.Weight), Detail: did.detail()}, nil
}
