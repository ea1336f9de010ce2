package rag

import (
	"fmt"
	"os"
)

// WithSnapshot opens the data folder as it is at this moment, only to be read, also while another process has it open
// and writes: what that writes afterwards is not seen. Nothing in the folder is locked or changed, so it may be
// read-only. An ingest or delete under way is in it as far as it was committed: each document is the whole old or the
// whole new version.
//
// The catalog and the stores that share its file are copied into a temporary folder, which goes when the engine is closed
// and takes as much room as they do. What other stores keep elsewhere is read as it is. Caches start empty and
// traces go only to a sink of [WithTraceSink], to the folder of [WithTraceDir], or to a sink that writes elsewhere. What would change the data is ErrUnsupported:
// Ingest, except for a dry run, Delete, Reindex, Repair and Compact. ErrNotFound: there is no data in the folder.
func WithSnapshot() Option { return func(s *settings) { s.snapshot = true } }

// beginSnapshot gives the providers of a snapshot an empty folder to copy their data to.
func (e *Engine) beginSnapshot(s *settings, env *Env) error {
	if !s.snapshot {
		return nil
	}
	if e.dir == "" || s.catalog != nil {
		return fmt.Errorf("a snapshot needs a data folder, and a catalog made by the engine: %w", ErrInvalid)
	}
	if _, err := os.Stat(e.dir); err != nil {
		return fmt.Errorf("snapshot of %s: %w", e.dir, readable(err))
	}
	dir, err := os.MkdirTemp("", "rag-snapshot-")
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	e.own(temporaryFolder(dir)) // first, so that it goes last
	env.Snapshot, env.Dir = e.dir, dir
	return nil
}

// temporaryFolder is removed when it is closed.
type temporaryFolder string

func (f temporaryFolder) Close() error { return os.RemoveAll(string(f)) }

// writable reports why a verb that changes data cannot be done.
func (e *Engine) writable(verb string) error {
	if e.snapshot {
		return fmt.Errorf("%s: the data is open as a snapshot, which can only be read: %w", verb, ErrUnsupported)
	}
	return e.whole(verb)
}
