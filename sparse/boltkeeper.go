package sparse

import (
	"errors"
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// boltKeeper keeps indexes in rag.db and a copy of those that were used in memory. Each change gives the collection a
// new generation number; a copy of another generation, which another handle on the same file may have written, is
// brought up to date before it is used. As long as nothing at all is written to the file, a copy is used without a look
// at it.
//
// Details stay in the file until a search needs them.
type boltKeeper struct {
	db          *boltkv.DB
	fingerprint string // of analyzer and settings

	mu     sync.Mutex // held while a collection is read, so that it is read once
	copies map[string]version
}

// version is a collection's index at one generation. The zero version is that of an unknown collection.
type version struct {
	manifest manifest
	index    *bm25.Index
	updates  uint64 // as many updates of the file are known to be in it, or not to concern it; see boltkv.DB.Updates
}

// errUnchanged rolls a transaction back that has nothing to write.
var errUnchanged = errors.New("unchanged")

func openBoltKeeper(dir, fingerprint string) (*boltKeeper, error) {
	db, err := boltkv.Open(dir)
	if err != nil {
		return nil, storeError(err)
	}
	return &boltKeeper{db: db, fingerprint: fingerprint, copies: map[string]version{}}, nil
}

func (k *boltKeeper) index(collection string, detailed bool) (*bm25.Index, error) {
	updates, err := k.db.Updates()
	if err != nil {
		return nil, storeError(err)
	}
	if v := k.copy(collection); v.index != nil && v.updates == updates && (!detailed || v.index.Detailed()) {
		return v.index, nil
	}
	var v version
	err = k.db.View(func(tx *bolt.Tx) (err error) {
		if v, err = k.current(tx, collection); err != nil || !detailed {
			return err
		}
		return loadDetails(tx, collection, v)
	})
	if err == nil {
		k.stamp(collection, v.manifest.generation, updates)
	}
	return v.index, storeError(err)
}

// copy returns the collection as it is in memory.
func (k *boltKeeper) copy(collection string) version {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.copies[collection]
}

// stamp notes that the copy of this generation was the collection's after so many updates.
func (k *boltKeeper) stamp(collection string, generation, updates uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v := k.copies[collection]; v.index != nil && v.manifest.generation == generation {
		v.updates = max(v.updates, updates)
		k.copies[collection] = v
	}
}

// loadDetails reads the details that are not in memory. Two searches at once may both read one: they are the same.
func loadDetails(tx *bolt.Tx, collection string, v version) error {
	for _, p := range v.index.Parts() {
		if p.Segment().Detail() != nil {
			continue
		}
		d, err := readDetail(collectionBucket(tx, collection), v.manifest, p)
		if err != nil {
			return fmt.Errorf("collection %s: %w", collection, err)
		}
		p.Segment().SetDetail(d)
	}
	return nil
}

func (k *boltKeeper) change(collection string, edit edit) error {
	var made version
	err := k.db.Update(func(tx *bolt.Tx) error {
		have, err := k.current(tx, collection)
		if err != nil {
			return err
		}
		next, err := edit(have.index, func(p *bm25.Part) (*bm25.Detail, error) {
			return readDetail(collectionBucket(tx, collection), have.manifest, p)
		})
		if err != nil {
			return err
		}
		if next == have.index {
			return errUnchanged
		}
		made.index = next
		made.manifest, err = writeIndex(tx, collection, k.fingerprint, have, next)
		return err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return storeError(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if made.manifest.generation > k.copies[collection].manifest.generation {
		k.copies[collection] = made
	}
	return nil
}

// current returns what the transaction sees of the collection.
func (k *boltKeeper) current(tx *bolt.Tx, collection string) (version, error) {
	b := collectionBucket(tx, collection)
	if b == nil {
		return version{}, nil
	}
	m, err := readManifest(b, k.fingerprint)
	if err != nil {
		return version{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	have := k.copies[collection]
	if have.manifest.generation == m.generation {
		return have, nil
	}
	index, err := readIndex(b, m, have.index)
	if err != nil {
		return version{}, fmt.Errorf("collection %s: %w", collection, err)
	}
	read := version{manifest: m, index: index}
	if m.generation > have.manifest.generation {
		k.copies[collection] = read
	}
	return read, nil
}

func (k *boltKeeper) drop(collection string) error {
	err := k.db.Update(func(tx *bolt.Tx) error {
		root := tx.Bucket(rootBucket)
		if root == nil || root.Bucket([]byte(collection)) == nil {
			return errUnchanged
		}
		return root.DeleteBucket([]byte(collection))
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.copies, collection)
	}
	return storeError(err)
}

func (k *boltKeeper) compact() (int64, error) {
	freed, err := k.db.Compact()
	return freed, storeError(err)
}

func (k *boltKeeper) close() error { return k.db.Close() }

// storeError adds the kind by which callers know an error of the database.
func storeError(err error) error {
	for _, kind := range []struct{ of, is error }{
		{boltkv.ErrLocked, rag.ErrLocked},
		{boltkv.ErrDamaged, rag.ErrInvalid},
		{boltkv.ErrFormat, rag.ErrInvalid},
	} {
		if errors.Is(err, kind.of) {
			return fmt.Errorf("sparse index: %w: %w", err, kind.is)
		}
	}
	return err
}
