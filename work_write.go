package rag

import (
	"context"
	"errors"
)

// writeClaimed writes a group of claimed sources. What others have taken over leaves the group. Where it cannot be written
// for another reason than that a service does not answer, each source is tried by itself, so that none fails for another.
func (r *ingestRun) writeClaimed(ctx context.Context, group []*prepared) error {
	if group = r.held.stillHeld(group); len(group) == 0 {
		return nil
	}
	err := r.writeGroup(ctx, group)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	if errors.Is(err, ErrLocked) {
		if lost := r.held.renewAll(ctx); lost != nil {
			return lost
		}
		if left := r.held.stillHeld(group); len(left) < len(group) {
			return r.writeClaimed(ctx, left)
		}
		return err // of the collection
	}
	if len(group) > 1 {
		for _, p := range group {
			if err := r.writeClaimed(ctx, []*prepared{p}); err != nil {
				return err
			}
		}
		return nil
	}
	return r.giveUpOn(ctx, group[0], err)
}

// giveUpOn notes a source that cannot be written, and leaves the indexes as the catalog says.
func (r *ingestRun) giveUpOn(ctx context.Context, p *prepared, cause error) error {
	if err := r.mend(ctx, p.file.URI); errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		return err
	} // else what is left stays noted in the queue, and its next claim cleans it
	stage := &StageError{Stage: StageUpsert, Err: cause}
	errors.As(cause, &stage)
	r.fail(stage.Stage, p.file.URI, stage.Err)
	p.file.Error = cause.Error()
	r.keepFile(p.file)
	return nil
}

// mend makes the indexes hold of a claimed source what the catalog says, where a claim before this one may have left
// something else.
func (r *ingestRun) mend(ctx context.Context, uri string) error {
	touched := r.held.touched(uri)
	if len(touched) == 0 {
		return nil
	}
	kept, err := live(r.catalog.Chunks(ctx, r.name, touched))
	if err != nil {
		return err
	}
	again := make(map[string]bool, len(kept))
	for _, c := range kept {
		again[c.ID] = true
	}
	var gone []string
	for _, id := range touched {
		if !again[id] {
			gone = append(gone, id)
		}
	}
	if err := r.reindex(ctx, r.name, r.header.Generation, again); err != nil {
		return err
	}
	if err := r.unindex(ctx, r.indexName(), gone); err != nil {
		return err
	}
	r.held.clean(uri)
	return nil
}
