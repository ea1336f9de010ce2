package jobs

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// Lend returns an engine and a function that gives it back.
type Lend func(context.Context) (engine *rag.Engine, done func(), err error)

// Ingest is the work of a job that ingests. Its items are the sources, by URI; an outcome is the action of a
// rag.SourceStep. The result is a *rag.IngestReport, nil where the engine could not be had.
func Ingest(lend Lend, req rag.IngestRequest) func(context.Context, *Run) (any, error) {
	return func(ctx context.Context, run *Run) (any, error) {
		engine, done, err := lend(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		req.Progress = func(p rag.Progress) { run.Stage(p.Stage, p.Done, p.Total) }
		req.EachSource = func(s rag.SourceStep) { run.Item(itemOf(s)) }
		report, err := engine.Ingest(ctx, req)
		if report == nil { // not a nil report in an interface that is not nil
			return nil, err
		}
		return report, err
	}
}

// itemOf is a source as an item.
func itemOf(s rag.SourceStep) Item {
	it := Item{Key: s.URI, State: ItemWorking, Stage: s.Stage, Done: s.Done, Total: s.Total, Outcome: s.Action, Note: s.Reason}
	switch {
	case s.Action == rag.ActionFailed:
		it.State = ItemFailed
	case s.Action != "":
		it.State = ItemDone
	case s.Stage == rag.StageCheck:
		it.State = ItemQueued
	}
	return it
}
