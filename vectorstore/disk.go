package vectorstore

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// layoutVersion is the version byte of all records of the store. docs/formats.md describes them.
const layoutVersion = 1

// Bucket and key names; docs/formats.md shows the tree.
var (
	rootBucket     = []byte("vectors")
	versionKey     = []byte("version")
	allCollections = []byte("collections")
	headerKey      = []byte("header")
	recordsBucket  = []byte("records")
)

// errStale says that the collection was changed through another Flat on the same directory.
var errStale = errors.New("the collection was changed meanwhile")

// floatLen is the size of a stored number.
const floatLen = 4

// header is what is stored of a collection beside its records.
type header struct {
	dims int
	gen  uint64 // changes with every write and is never used twice
}

func checkVersion(tx *bolt.Tx) error {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil
	}
	_, _, err := record.Open(root.Get(versionKey), layoutVersion)
	return err
}

// stored returns a collection's bucket and header; the bucket is nil if there is none.
func stored(tx *bolt.Tx, collection string) (*bolt.Bucket, header, error) {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil, header{}, nil
	}
	b := root.Bucket(allCollections).Bucket([]byte(collection))
	if b == nil {
		return nil, header{}, nil
	}
	r, _, err := record.Open(b.Get(headerKey), layoutVersion)
	if err != nil {
		return nil, header{}, fmt.Errorf("header of collection %q: %w", collection, err)
	}
	h := header{dims: r.Int(), gen: r.Uint()}
	if err := r.Close(); err != nil || h.dims <= 0 {
		return nil, header{}, fmt.Errorf("header of collection %q: %w", collection, record.ErrDamaged)
	}
	return b, h, nil
}

// fresh reports whether the collection in memory is what is stored.
func (f *Flat) fresh(collection string) (bool, error) {
	if f.db == nil {
		return true, nil
	}
	var h header
	err := f.db.View(func(tx *bolt.Tx) (err error) {
		_, h, err = stored(tx, collection)
		return err
	})
	f.mu.RLock()
	defer f.mu.RUnlock()
	s := f.collections[collection]
	if s == nil {
		return h.gen == 0, kind(err)
	}
	return h.gen == s.gen, kind(err)
}

// current returns the collection as it is stored, or nil if it is unknown. The caller holds f.write.
func (f *Flat) current(collection string) (*slab, error) {
	fresh, err := f.fresh(collection)
	if err != nil {
		return nil, err
	}
	if !fresh {
		s, err := f.load(collection)
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if s == nil {
			delete(f.collections, collection)
		} else {
			f.collections[collection] = s
		}
		return s, nil
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.collections[collection], nil
}

// load reads a collection, nil if it is unknown.
func (f *Flat) load(collection string) (s *slab, err error) {
	err = f.db.View(func(tx *bolt.Tx) error {
		b, h, err := stored(tx, collection)
		if b == nil || err != nil {
			return err
		}
		s = newSlab(h.dims)
		s.gen = h.gen
		vector := make([]float32, h.dims)
		return b.Bucket(recordsBucket).ForEach(func(k, v []byte) error {
			r, tail, _, err := record.OpenTail(v, layoutVersion, floatLen*h.dims)
			if err != nil {
				return fmt.Errorf("vector %x of collection %q: %w", k, collection, err)
			}
			one := row{id: r.String(), docID: r.String(), fields: r.String(), vector: vector}
			if err := r.Close(); err != nil || len(k) != keyLen {
				return fmt.Errorf("vector %x of collection %q: %w", k, collection, record.ErrDamaged)
			}
			one.key = binary.BigEndian.Uint64(k)
			record.ReadFloat32s(vector, tail)
			return s.put([]row{one})
		})
	})
	return s, kind(err)
}

// keyLen is the length of a record's key: a number that only grows, big endian.
const keyLen = 8

// store writes a batch in one transaction and gives new records their keys.
func (f *Flat) store(collection string, s *slab, batch []row) (gen uint64, err error) {
	return f.update(collection, s, func(records *bolt.Bucket) error {
		records.FillPercent = boltkv.SequentialFill
		for i := range batch {
			one := &batch[i]
			if at, ok := s.rows[one.id]; ok {
				one.key = s.keys[at]
			} else if one.key, err = records.NextSequence(); err != nil {
				return err
			}
			w := record.NewWriter(layoutVersion, len(one.id)+len(one.docID)+len(one.fields)+floatLen*s.dims+16)
			w.String(one.id)
			w.String(one.docID)
			w.String(one.fields)
			w.Float32s(one.vector)
			rec, err := w.Finish()
			if err != nil {
				return err
			}
			if err := records.Put(binary.BigEndian.AppendUint64(nil, one.key), rec); err != nil {
				return err
			}
		}
		return nil
	})
}

// unstore deletes records that are there in one transaction.
func (f *Flat) unstore(collection string, s *slab, ids []string) (gen uint64, err error) {
	return f.update(collection, s, func(records *bolt.Bucket) error {
		for _, id := range ids {
			if err := records.Delete(binary.BigEndian.AppendUint64(nil, s.keys[s.rows[id]])); err != nil {
				return err
			}
		}
		return nil
	})
}

// update runs fn on the records of a collection, makes the collection where it is missing, and returns its new generation.
func (f *Flat) update(collection string, s *slab, fn func(records *bolt.Bucket) error) (gen uint64, err error) {
	if f.db == nil {
		return s.gen, nil
	}
	err = f.db.Update(func(tx *bolt.Tx) error {
		b, h, err := stored(tx, collection)
		if err != nil {
			return err
		}
		if h.gen != s.gen {
			return errStale
		}
		if b == nil {
			if b, err = layOut(tx, collection); err != nil {
				return err
			}
		}
		if gen, err = tx.Bucket(rootBucket).NextSequence(); err != nil {
			return err
		}
		w := record.NewWriter(layoutVersion, 16)
		w.Int(s.dims)
		w.Uint(gen)
		rec, err := w.Finish()
		if err != nil {
			return err
		}
		if err := b.Put(headerKey, rec); err != nil {
			return err
		}
		return fn(b.Bucket(recordsBucket))
	})
	return gen, kind(err)
}

func layOut(tx *bolt.Tx, collection string) (*bolt.Bucket, error) {
	root, err := tx.CreateBucketIfNotExists(rootBucket)
	if err != nil {
		return nil, err
	}
	version, err := record.NewWriter(layoutVersion, 0).Finish()
	if err != nil {
		return nil, err
	}
	if err := root.Put(versionKey, version); err != nil {
		return nil, err
	}
	all, err := root.CreateBucketIfNotExists(allCollections)
	if err != nil {
		return nil, err
	}
	b, err := all.CreateBucket([]byte(collection))
	if err != nil {
		return nil, err
	}
	_, err = b.CreateBucket(recordsBucket)
	return b, err
}

// dropStored removes a collection from the file.
func (f *Flat) dropStored(collection string) error {
	if f.db == nil {
		return nil
	}
	known := false
	err := f.db.View(func(tx *bolt.Tx) error {
		b, _, err := stored(tx, collection)
		known = b != nil
		return err
	})
	if err != nil || !known {
		return kind(err)
	}
	return kind(f.db.Update(func(tx *bolt.Tx) error {
		err := tx.Bucket(rootBucket).Bucket(allCollections).DeleteBucket([]byte(collection))
		if errors.Is(err, berrors.ErrBucketNotFound) { // another Flat on the directory was first
			return nil
		}
		return err
	}))
}
