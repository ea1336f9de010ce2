package rag

import (
	"context"
	"iter"
)

// AskRequest is a question to be answered. Only Query.Text must be given.
type AskRequest struct {
	Query         Query         // the question, and where and how passages for it are looked for
	Question      string        // as it is to be answered and shown; "" means Query.Text, which may be a rewritten one
	Turns         []ChatMessage // the conversation before the question, oldest first
	Extractive    bool          // answer with sentences of the sources, also if there is a chat model
	ContextTokens int           // most tokens of passages that the chat model is shown; 0 means Config.Answer.ContextTokens
	Intent        string        // what a router made of the question; it is passed on to the answer
	Found         *Result       // hits of a search that was made already; nil: Ask searches for Query
}

// AnswerEvent is something that happens while an answer is made. Exactly one of the fields is set.
type AnswerEvent struct {
	Stage  string  // this stage begins
	Text   string  // the next piece of the answer's text; the pieces together are Answer.Text
	Answer *Answer // the answer, whole: the last event
}

// Ask answers a question from the passages that a search finds.
func (e *Engine) Ask(ctx context.Context, req AskRequest) (*Answer, error) {
	var answer *Answer
	for event, err := range e.AskStream(ctx, req) {
		if err != nil {
			return nil, err
		}
		answer = event.Answer
	}
	return answer, nil
}

// AskStream is Ask as it goes on. An error ends the sequence.
func (e *Engine) AskStream(ctx context.Context, req AskRequest) iter.Seq2[AnswerEvent, error] {
	return func(yield func(AnswerEvent, error) bool) {}
}
