package rag

import (
	"context"
	"errors"
	"fmt"
)

// ReindexRequest says what to build anew.
type ReindexRequest struct {
	Collection string         // "" means Config.Collection
	Progress   func(Progress) // StageEmbed: passages done of all; called from one goroutine at a time; must return soon
}

// ReindexReport says what a reindex did. Its JSON form is what `rag reindex --json` prints.
type ReindexReport struct {
	Collection string `json:"collection"`
	Documents  int    `json:"documents"`
	Chunks     int    `json:"chunks"`
	Embedded   int    `json:"embedded"` // passages that were embedded
	Cached     int    `json:"cached"`   // passages whose vector came from the embedding cache
	Reused     int    `json:"reused"`   // passages whose vector came from the old index, which the same model built
	Truncated  int    `json:"truncated_inputs"`
	Before     Built  `json:"before"`
	After      Built  `json:"after"`
	ElapsedMS  int64  `json:"elapsed_ms"`
}

// Built says by what the indexes of a collection were built.
type Built struct {
	Embedder string `json:"embedder"` // fingerprint; "" without vectors
	Sparse   string `json:"sparse"`   // fingerprint
}

// Reindex builds the indexes of a collection anew from its catalog, with this engine's embedder and word index, beside
// the ones that searches read, and flips to the new ones at the end in one transaction. Documents are not read or split
// again. If it is cut short, the old indexes stay; what was begun is cleaned away by the next write. Vectors of the
// same model are taken over.
func (e *Engine) Reindex(ctx context.Context, req ReindexRequest) (_ *ReindexReport, err error) {
	defer e.hide(&err)
	if err := e.writable("reindex"); err != nil {
		return nil, err
	}
	name := e.collection(req.Collection)
	info, unlock, err := e.turn(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.rebuild(ctx, info, !info.Header.Dirty, req.Progress)
}

// rebuild is Reindex within the collection's turn to write. With reuse, vectors of the same model are taken over.
func (e *Engine) rebuild(ctx context.Context, info CollectionInfo, reuse bool, progress func(Progress)) (*ReindexReport, error) {
	start, name, old := e.now(), info.Name, info.Header
	rep := &ReindexReport{Collection: name, Documents: info.Documents, Chunks: info.Chunks, Before: Built{old.Embedder, old.Sparse}}
	next := e.newHeader()
	next.Calibration = old.Calibration // that it may be out of date is said where it would be used
	next.Created, next.Generation, next.Domain, next.Manifests, next.Away = old.Created, old.Generation+1, old.Domain, old.Manifests, old.Away
	rep.After = Built{next.Embedder, next.Sparse}
	if err := e.canClear(); err != nil {
		return nil, fmt.Errorf("reindex: %w", err)
	}
	if err := e.buildBeside(ctx, name, old, next.Generation, reuse, rep, progress); err != nil {
		return nil, errors.Join(err, e.giveUp(context.WithoutCancel(ctx), name, old))
	}
	next.begin(RunReindex) // until the old generation is gone
	if err := e.catalog.Commit(ctx, name, []Change{{Header: &next}}); err != nil {
		return nil, errors.Join(&StageError{Stage: StageCommit, Err: err}, e.giveUp(context.WithoutCancel(ctx), name, old))
	}
	rep.ElapsedMS = e.now().Sub(start).Milliseconds()
	e.log.Info("collection reindexed", "collection", name, "chunks", rep.Chunks, "embedder", next.Embedder)
	e.readers.drain(name)
	// The new indexes are in force: what is left of the old ones harms nobody, and the next write tries again.
	if err := e.dropOthers(ctx, name, next.Generation); err != nil {
		return rep, fmt.Errorf("%w: the new indexes are in use, and records of the old ones are left: %w", ErrPartial, err)
	}
	next.settle()
	return rep, e.catalog.Commit(ctx, name, []Change{{Header: &next}})
}

// buildBeside fills the indexes of another generation from the catalog.
func (e *Engine) buildBeside(ctx context.Context, name string, old Header, generation int, reuse bool, rep *ReindexReport, progress func(Progress)) error {
	dirty := old
	dirty.begin(RunReindex) // so that the next write cleans up if this one is cut short
	if err := e.catalog.Commit(ctx, name, []Change{{Header: &dirty}}); err != nil {
		return &StageError{Stage: StageCommit, Err: err}
	}
	if err := e.dropOthers(ctx, name, old.Generation); err != nil {
		return &StageError{Stage: StageClean, Err: err}
	}
	var from string // generation whose vectors can be taken over
	if e.embedder != nil && old.Embedder == e.embedder.Model().Fingerprint() && reuse {
		from = indexName(name, old.Generation)
	}
	done := 0
	group := make([]*Chunk, 0, groupChunks)
	flush := func() error {
		if err := e.reindexGroup(ctx, indexName(name, generation), from, group, rep); err != nil {
			return err
		}
		done += len(group)
		if progress != nil {
			progress(Progress{Stage: StageEmbed, Done: done, Total: rep.Chunks})
		}
		group = group[:0]
		return nil
	}
	for chunk, err := range e.catalog.Scan(ctx, name, Filter{}) {
		if err != nil {
			return err
		}
		if group = append(group, &chunk); len(group) == groupChunks {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(group) > 0 {
		return flush()
	}
	return nil
}

// reindexGroup indexes chunks under a name, with the vectors that an old index has of them, if from is not "".
func (e *Engine) reindexGroup(ctx context.Context, into, from string, group []*Chunk, rep *ReindexReport) error {
	vectors := map[string][]float32{}
	if reader, ok := e.vectors.(VectorReader); ok && from != "" {
		ids := make([]string, len(group))
		for i, c := range group {
			ids[i] = c.ID
		}
		kept, err := reader.Vectors(ctx, from, ids)
		if err != nil {
			return &StageError{Stage: StageEmbed, Err: err}
		}
		for i, v := range kept {
			if v != nil {
				vectors[ids[i]] = v
				rep.Reused++
			}
		}
	}
	if e.embedder != nil {
		var texts, ids []string
		for _, c := range group {
			if vectors[c.ID] == nil {
				texts, ids = append(texts, c.IndexText()), append(ids, c.ID)
			}
		}
		got, err := e.embedAll(ctx, texts, false, nil)
		if err != nil {
			return &StageError{Stage: StageEmbed, Err: err}
		}
		for i, id := range ids {
			vectors[id] = got.vectors[i]
		}
		rep.Embedded += len(texts) - got.cached
		rep.Cached += got.cached
		rep.Truncated += e.overlong(texts)
	}
	return e.index(ctx, into, group, vectors)
}

// giveUp leaves the collection as it was before a reindex that failed.
func (e *Engine) giveUp(ctx context.Context, name string, old Header) error {
	if err := e.dropOthers(ctx, name, old.Generation); err != nil {
		return err // the header stays marked: the next write cleans up
	}
	return e.catalog.Commit(ctx, name, []Change{{Header: &old}})
}
