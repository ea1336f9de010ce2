package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// readHeader returns the collection's header; exists is false if there is no such collection.
func (e *Engine) readHeader(ctx context.Context, name string) (h Header, exists bool, err error) {
	info, exists, err := e.info(ctx, name)
	return info.Header, exists, err
}

func (e *Engine) info(ctx context.Context, name string) (CollectionInfo, bool, error) {
	if e.closed.Load() {
		return CollectionInfo{}, false, errClosed
	}
	all, err := e.catalog.Collections(ctx)
	if err != nil {
		return CollectionInfo{}, false, err
	}
	i := slices.IndexFunc(all, func(c CollectionInfo) bool { return c.Name == name })
	if i < 0 {
		return CollectionInfo{}, false, nil
	}
	return all[i], true, nil
}

// newHeader describes a collection that this engine is about to make.
func (e *Engine) newHeader() Header {
	h := Header{Sparse: fingerprint(e.sparse), Created: e.now()}
	if e.embedder != nil {
		m := e.embedder.Model()
		h.Embedder, h.Dims = m.Fingerprint(), m.Dims
	}
	return h
}

// checkHeader reports ErrFingerprint, with both fingerprints and the way out, if the collection was built by another
// embedder or analyzer than this engine has.
func (e *Engine) checkHeader(name string, h Header, dense, sparse bool) error {
	mine := e.newHeader()
	var part, built, now string
	switch {
	case dense && h.Embedder != mine.Embedder:
		part, built, now = "embedder", h.Embedder, mine.Embedder
	case sparse && h.Sparse != mine.Sparse:
		part, built, now = "sparse index", h.Sparse, mine.Sparse
	default:
		return nil
	}
	return fmt.Errorf("collection %q was built with %s %q, and this engine has %q: use the settings it was built with, or build it anew with `rag reindex --collection %s`: %w",
		name, part, orNone(built), orNone(now), name, ErrFingerprint)
}

func orNone(s string) string {
	if s == "" {
		return None
	}
	return s
}

// existing returns the collection, or ErrNotFound with the names there are.
func (e *Engine) existing(ctx context.Context, name string) (CollectionInfo, error) {
	info, exists, err := e.info(ctx, name)
	if err == nil && !exists {
		err = e.noCollection(ctx, name)
	}
	return info, err
}

// noCollection is the error for a name that nothing was ingested under.
func (e *Engine) noCollection(ctx context.Context, name string) error {
	all, err := e.catalog.Collections(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("collection %q: nothing has been ingested yet: %w", name, ErrNotFound)
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return fmt.Errorf("no collection %q%s (there are: %s): %w", name, DidYouMean(name, names), strings.Join(names, ", "), ErrNotFound)
}

// index upserts chunks into both indexes under a name that indexName gave. vectors has one for each chunk unless the engine has no embedder.
func (e *Engine) index(ctx context.Context, index string, chunks []*Chunk, vectors map[string][]float32) error {
	for part := range slices.Chunk(chunks, groupChunks) {
		texts := make([]TextRecord, len(part))
		vecs := make([]VectorRecord, 0, len(part))
		for i, c := range part {
			fields := c.Fields()
			texts[i] = TextRecord{ID: c.ID, DocID: c.DocID, Text: c.IndexText(), Title: c.Title, Headings: strings.Join(c.Headings, "\n"), Language: c.Language, Meta: fields, Validity: c.Validity}
			if v := vectors[c.ID]; v != nil {
				vecs = append(vecs, VectorRecord{ID: c.ID, DocID: c.DocID, Vector: v, Meta: fields, Validity: c.Validity})
			}
		}
		if e.vectors != nil {
			if err := e.vectors.Upsert(ctx, index, vecs); err != nil {
				return &StageError{Stage: StageUpsert, Err: fmt.Errorf("vector store: %w", err)}
			}
		}
		if err := e.sparse.Upsert(ctx, index, texts); err != nil {
			return &StageError{Stage: StageUpsert, Err: fmt.Errorf("sparse index: %w", err)}
		}
	}
	return nil
}

// stagedIndex is one of the two indexes, by the stage that reads it.
type stagedIndex struct {
	stage string
	name  string // in errors
	deleter
}

// deleter is what both kinds of index have in common.
type deleter interface {
	Delete(ctx context.Context, collection string, ids []string) error
}

// indexes are those the engine has.
func (e *Engine) indexes() []stagedIndex {
	if e.vectors == nil {
		return []stagedIndex{{StageSparse, "sparse index", e.sparse}}
	}
	return []stagedIndex{{StageDense, "vector store", e.vectors}, {StageSparse, "sparse index", e.sparse}}
}

// canList reports whether every index can say which records it has. Where one cannot, the header names those that a run
// touches, so that the next one can put right what this one leaves.
func (e *Engine) canList() bool {
	return !slices.ContainsFunc(e.indexes(), func(x stagedIndex) bool { _, ok := x.deleter.(IDLister); return !ok })
}

// remove deletes records under a name that indexName gave; the error says which index it is.
func (x stagedIndex) remove(ctx context.Context, index string, ids []string) error {
	if err := x.Delete(ctx, index, ids); err != nil {
		return fmt.Errorf("%s: %w", x.name, err)
	}
	return nil
}

// unindex deletes chunk IDs from both indexes under a name that indexName gave.
func (e *Engine) unindex(ctx context.Context, index string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var errs []error
	for _, x := range e.indexes() {
		errs = append(errs, x.remove(ctx, index, ids))
	}
	if err := errors.Join(errs...); err != nil {
		return &StageError{Stage: StageClean, Err: err}
	}
	return nil
}

// removeEntries removes documents: from the catalog first, since it decides what is shown, then from the indexes. It
// returns how many of them the catalog let go, also beside an error, and which indexes failed. An index that fails is
// not asked again: the mark in the header, h, stays with what the next run must know.
func (e *Engine) removeEntries(ctx context.Context, name string, h *Header, entries []Entry) (removed int, failed []IndexFailure, err error) {
	at, down := indexName(name, h.Generation), map[string]*IndexFailure{}
	for part := range slices.Chunk(entries, removeDocs) {
		var changes []Change
		var ids []string
		for _, entry := range part {
			changes = append(changes, Change{Remove: entry.URI})
			for _, ref := range entry.Chunks {
				ids = append(ids, ref.ID)
			}
		}
		before := len(h.Touched)
		if !e.canList() {
			h.Touched = append(h.Touched, ids...)
			changes = append(changes, Change{Header: h})
		}
		if err = e.catalog.Commit(ctx, name, changes); err != nil {
			err = &StageError{Stage: StageCommit, Err: err}
			break
		}
		removed += len(part)
		for _, x := range e.indexes() {
			if len(ids) == 0 {
				continue
			}
			if f := down[x.stage]; f != nil {
				f.Chunks += len(ids)
			} else if err := x.remove(ctx, at, ids); err != nil {
				e.hide(&err)
				down[x.stage] = &IndexFailure{x.stage, len(ids), err, err.Error()}
			}
		}
		if len(down) == 0 {
			h.Touched = h.Touched[:before]
		}
	}
	for _, x := range e.indexes() {
		if f := down[x.stage]; f != nil {
			failed = append(failed, *f)
		}
	}
	return removed, failed, err
}
