package sparse

import (
	"fmt"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// keeper holds the current index of each collection. It is safe for concurrent use.
type keeper interface {
	// index returns the collection's index, detailed if its segments shall have their details; nil, the empty one, if
	// the collection is unknown.
	index(collection string, detailed bool) (*bm25.Index, error)
	// change replaces the index by what edit makes of it; one change at a time. It is durable when change returns.
	change(collection string, edit edit) error
	drop(collection string) error
	// check reads all that is stored; wrong is what cannot be read, err what kept it from looking.
	check(collection string) (wrong, err error)
	// compact returns how many bytes smaller the file became.
	compact() (freed int64, err error)
	close() error
}

// edit makes a new index of an old one, with details from load. If nothing changes it returns the old one.
type edit func(index *bm25.Index, load bm25.LoadDetail) (*bm25.Index, error)

// openKeeper opens the indexes that an analyzer and settings of this fingerprint made.
func openKeeper(dir, fingerprint string) (keeper, error) {
	if dir == "" {
		return &memoryKeeper{indexes: map[string]*bm25.Index{}}, nil
	}
	return openBoltKeeper(dir, fingerprint)
}

// checkCollection reports ErrInvalid for a name under which nothing can be stored.
func checkCollection(name string) error {
	if err := boltkv.CheckName(name); err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// memoryKeeper keeps indexes while the process lives.
type memoryKeeper struct {
	writing sync.Mutex // held during a change, so that searches do not wait for it
	mu      sync.RWMutex
	indexes map[string]*bm25.Index
}

func (k *memoryKeeper) index(collection string, _ bool) (*bm25.Index, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.indexes[collection], nil
}

func (k *memoryKeeper) change(collection string, edit edit) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	have, err := k.index(collection, true)
	if err != nil {
		return err
	}
	next, err := edit(have, nil)
	if err != nil || next == have {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.indexes[collection] = next
	return nil
}

func (k *memoryKeeper) drop(collection string) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.indexes, collection)
	return nil
}

func (k *memoryKeeper) compact() (int64, error) { return 0, nil }

func (k *memoryKeeper) close() error { return nil }
