package rag

import "context"

// What is built on an engine, such as package agent, uses its chat model, its verifier and its traces.

// ChatModel returns the model that the engine answers with; nil if it has none.
func (e *Engine) ChatModel() ChatModel { return e.chat }

// Verifier returns what judges the citations of the engine's answers; nil if nothing does.
func (e *Engine) Verifier() Verifier { return e.verifier }

// Record keeps the trace of work that others do with the engine, where the engine's own traces are kept, and returns its ID:
// a new one if it has none. A failing sink is logged.
func (e *Engine) Record(ctx context.Context, t *Trace) string {
	if t.ID == "" {
		t.ID = newTraceID()
	}
	e.record(ctx, t)
	return t.ID
}
