package rag

import (
	"context"
	"fmt"
)

// Optional interfaces of what keeps data on disk.
type (
	// Compacter gives the space back that deleted records left. Catalogs, vector stores and sparse indexes have it.
	Compacter interface {
		// Compact returns how many bytes smaller the files became. Whenever the process dies, nothing is lost.
		Compact(ctx context.Context) (freed int64, err error)
	}
	// Copier is a catalog that can be copied while it is in use.
	Copier interface {
		// CopyTo writes all that the catalog's file holds at one instant to path, where no file may be.
		CopyTo(ctx context.Context, path string) error
	}
)

// CompactReport says what a compact did. Its JSON form is what `rag compact --json` prints.
type CompactReport struct {
	FreedBytes int64 `json:"freed_bytes"` // by which the files became smaller; below 0 where they grew
}

// Compact makes the files of the data folder smaller by the space that deleted and replaced documents left. Searches go
// on; ingests and deletes wait. Whenever the process dies, all files are whole, and nothing is lost. Providers
// without files, and those that cannot do it, are passed over.
func (e *Engine) Compact(ctx context.Context) (_ *CompactReport, err error) {
	defer e.hide(&err)
	if e.closed.Load() {
		return nil, errClosed
	}
	if err := e.writable("compact"); err != nil {
		return nil, err
	}
	rep := &CompactReport{}
	for _, store := range []any{e.catalog, e.vectors, e.sparse} {
		c, ok := store.(Compacter)
		if !ok {
			continue
		}
		freed, err := c.Compact(ctx)
		if err != nil {
			return nil, fmt.Errorf("compact %s: %w", providerName(store), err)
		}
		rep.FreedBytes += freed
	}
	return rep, nil
}

// Backup writes what the catalog's file holds at one instant to a new file, while ingests and searches go on: with the
// default providers that is all collections with their indexes. What a store keeps elsewhere, and the caches, are
// not in it; Repair makes missing index records again from the catalog. A run under way is in it as one that was
// cut short. ErrUnsupported: the catalog cannot be copied; ErrInvalid: there is a file of this name.
func (e *Engine) Backup(ctx context.Context, path string) (err error) {
	defer e.hide(&err)
	if err := e.whole("backup"); err != nil {
		return err
	}
	if e.closed.Load() {
		return errClosed
	}
	c, ok := e.catalog.(Copier)
	if !ok {
		return fmt.Errorf("backup: the catalog in use cannot be copied: it has no Copier: %w", ErrUnsupported)
	}
	return c.CopyTo(ctx, path)
}
