package rag

import (
	"context"
	"path/filepath"
	"sync"
)

// turns order the work on the collections of a data folder: one writes at a time, and a reindex waits for searches that
// read what it replaces.
type turns struct {
	readers readers // searches under way

	guard   sync.Mutex
	writers map[string]*sync.Mutex // by collection; held by whoever writes
}

// write takes the collection's turn to write; call the returned function when done.
func (t *turns) write(collection string) (done func()) {
	t.guard.Lock()
	w := t.writers[collection]
	if w == nil {
		if t.writers == nil {
			t.writers = map[string]*sync.Mutex{}
		}
		w = &sync.Mutex{}
		t.writers[collection] = w
	}
	t.guard.Unlock()
	w.Lock()
	return w.Unlock
}

// lock takes the collection's turn to write, until unlock is called: among the calls of this process, and where several
// processes write to the catalog, among these. Another process that writes is waited for as [WithLockWait] says, then it is
// ErrLocked.
func (e *Engine) lock(ctx context.Context, collection string) (unlock func(), err error) {
	done := e.write(collection)
	shared := e.locker()
	if shared == nil {
		return done, nil
	}
	release, err := shared.LockCollection(ctx, collection, e.lockWait)
	if err != nil {
		done()
		return nil, err
	}
	return func() { release(); done() }, nil
}

// turn takes the collection's turn to write, as lock does, and reads what the catalog knows of it. One that is not there is
// ErrNotFound.
func (e *Engine) turn(ctx context.Context, collection string) (_ CollectionInfo, unlock func(), err error) {
	unlock, err = e.lock(ctx, collection)
	if err != nil {
		return CollectionInfo{}, nil, err
	}
	info, err := e.existing(ctx, collection)
	if err != nil {
		unlock()
		return CollectionInfo{}, nil, err
	}
	return info, unlock, nil
}

// locker returns what orders the writes of several processes; nil where there is one. A view writes in its engine's turn.
func (e *Engine) locker() CollectionLocker {
	c := e.catalog
	for {
		view, ok := c.(*scopedCatalog)
		if !ok {
			shared, _ := c.(CollectionLocker) // nil if it has none
			return shared
		}
		c = view.Catalog
	}
}

// folderTurns are the turns that all engines of the process over one data folder share, since its catalog and indexes are
// the same for all.
type folderTurns struct {
	turns
	path    string // absolute
	engines int    // that have it open; guarded by folders.mu
}

var folders = struct {
	mu   sync.Mutex
	open map[string]*folderTurns // by path
}{open: map[string]*folderTurns{}}

// turnsOf returns the turns of a data folder that exists. They are to be closed.
func turnsOf(dir string) (*folderTurns, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	folders.mu.Lock()
	defer folders.mu.Unlock()
	t := folders.open[path]
	if t == nil {
		t = &folderTurns{path: path}
		folders.open[path] = t
	}
	t.engines++
	return t, nil
}

// Close forgets the turns with the last engine that has the folder open.
func (t *folderTurns) Close() error {
	folders.mu.Lock()
	defer folders.mu.Unlock()
	if t.engines--; t.engines == 0 {
		delete(folders.open, t.path)
	}
	return nil
}
