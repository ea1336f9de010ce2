package vectorstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// layoutVersion is the version byte of all records of the stores. docs/formats.md describes them.
const layoutVersion = 1

// Bucket and key names; docs/formats.md shows the tree.
var (
	rootBucket     = []byte("vectors")
	versionKey     = []byte("version")
	allCollections = []byte("collections")
	headerKey      = []byte("header")
	recordsBucket  = []byte("records")
	changesBucket  = []byte("changes")
)

// errStale says that the collection was changed through another store on the same directory.
var errStale = errors.New("the collection was changed meanwhile")

// keyLen is the length of a record's key: a number that only grows, big endian.
const keyLen = 8

func keyBytes(key uint64) []byte { return binary.BigEndian.AppendUint64(nil, key) }

// header is what is stored of a collection beside its records.
type header struct {
	dims int
	gen  uint64 // changes with every write and is never used twice; 0: there is no such collection
}

func checkVersion(tx *bolt.Tx) error {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil
	}
	_, _, err := record.Open(root.Get(versionKey), layoutVersion)
	return err
}

// collectionsOf returns the bucket with all collections, or nil if there is none.
func collectionsOf(tx *bolt.Tx) *bolt.Bucket {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil
	}
	return root.Bucket(allCollections)
}

// stored returns a collection's bucket and header; the bucket is nil if there is none.
func stored(tx *bolt.Tx, collection string) (*bolt.Bucket, header, error) {
	all := collectionsOf(tx)
	if all == nil {
		return nil, header{}, nil
	}
	b := all.Bucket([]byte(collection))
	if b == nil {
		return nil, header{}, nil
	}
	if b.Bucket(recordsBucket) == nil {
		return nil, header{}, fmt.Errorf("the vectors of collection %q are missing: %w", collection, record.ErrDamaged)
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

// storedNames lists the collections.
func storedNames(tx *bolt.Tx) (names []string, err error) {
	all := collectionsOf(tx)
	if all == nil {
		return nil, nil
	}
	err = all.ForEachBucket(func(name []byte) error {
		names = append(names, string(name))
		return nil
	})
	return names, err
}

// encode makes the record of a row.
func (r *row) encode() ([]byte, error) {
	w := record.NewWriter(layoutVersion, len(r.id)+len(r.docID)+len(r.fields)+4*len(r.vector)+16)
	w.String(r.id)
	w.String(r.docID)
	w.String(r.fields)
	w.Float32s(r.vector)
	return w.Finish()
}

// decodeRow reads a record. The row's texts are copies; the vector's bytes are valid in the transaction only.
func decodeRow(value []byte, dims int) (r row, vector []byte, err error) {
	rec, vector, _, err := record.OpenTail(value, layoutVersion, 4*dims)
	if err != nil {
		return row{}, nil, err
	}
	r = row{id: rec.String(), docID: rec.String(), fields: rec.String()}
	return r, vector, rec.Close()
}

// write is a change of a collection in its transaction. It notes which keys are written and removed.
type write struct {
	records      *bolt.Bucket
	put, removed []uint64
}

// store writes a row under its key, or under a new one if that is 0.
func (w *write) store(r *row) (err error) {
	if r.key == 0 {
		if r.key, err = w.records.NextSequence(); err != nil {
			return err
		}
	}
	rec, err := r.encode()
	if err != nil {
		return err
	}
	w.put = append(w.put, r.key)
	return w.records.Put(keyBytes(r.key), rec)
}

func (w *write) remove(key uint64) error {
	w.removed = append(w.removed, key)
	return w.records.Delete(keyBytes(key))
}

// commit runs fn on the records of a collection in one transaction, makes the collection where it is missing, and returns
// its new generation. errStale: what is in memory is not what is stored.
func (s *store) commit(c *collection, fn func(w *write) error) (gen uint64, err error) {
	err = s.db.Update(func(tx *bolt.Tx) error {
		b, h, err := stored(tx, c.name)
		if err != nil {
			return err
		}
		if h.gen != c.gen {
			return errStale
		}
		if b == nil {
			if b, err = layOut(tx, c.name); err != nil {
				return err
			}
		}
		if gen, err = nextGeneration(tx.Bucket(rootBucket)); err != nil {
			return err
		}
		head := record.NewWriter(layoutVersion, 16)
		head.Int(c.dims)
		head.Uint(gen)
		if err := putRecord(b, headerKey, head); err != nil {
			return err
		}
		w := write{records: b.Bucket(recordsBucket)}
		w.records.FillPercent = boltkv.SequentialFill
		if err := fn(&w); err != nil {
			return err
		}
		return logChange(b, change{gen: gen, after: h.gen, put: w.put, removed: w.removed})
	})
	return gen, err
}

// maxStep bounds the steps of generations: eight thousand million writes fit.
const maxStep = 1 << 32

// nextGeneration takes a random step, so that no two histories come to the same number: a folder that an older copy of the
// file was put back into would take a snapshot of what was written before for its own, and so would another folder.
func nextGeneration(root *bolt.Bucket) (uint64, error) {
	gen := root.Sequence() + 1 + rand.Uint64N(maxStep)
	return gen, root.SetSequence(gen)
}

func putRecord(b *bolt.Bucket, key []byte, w *record.Writer) error {
	rec, err := w.Finish()
	if err != nil {
		return err
	}
	return b.Put(key, rec)
}

func layOut(tx *bolt.Tx, collection string) (*bolt.Bucket, error) {
	root, err := tx.CreateBucketIfNotExists(rootBucket)
	if err != nil {
		return nil, err
	}
	if err := putRecord(root, versionKey, record.NewWriter(layoutVersion, 0)); err != nil {
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
func (s *store) dropStored(collection string) error {
	known := false
	err := s.db.View(func(tx *bolt.Tx) error { // not by its header: what is damaged can be dropped
		all := collectionsOf(tx)
		known = all != nil && all.Bucket([]byte(collection)) != nil
		return nil
	})
	if err != nil || !known {
		return err
	}
	return s.db.Update(func(tx *bolt.Tx) error {
		err := collectionsOf(tx).DeleteBucket([]byte(collection))
		if errors.Is(err, berrors.ErrBucketNotFound) { // another store on the directory was first
			return nil
		}
		return err
	})
}

// records reads what lies in the file, in one transaction.
type records struct {
	c      *collection
	bucket *bolt.Bucket // nil: everything is in memory
}

// id returns the ID of a live slot's record.
func (r records) id(slot uint32) (string, error) {
	if r.bucket == nil {
		return r.c.ids[slot], nil
	}
	row, _, err := r.row(slot)
	return row.id, err
}

// vector reads a live slot's vector into dst, which has the right length.
func (r records) vector(slot uint32, dst []float32) error {
	if r.bucket == nil {
		r.c.vectors.Vector(slot, dst[:0])
		return nil
	}
	_, vector, err := r.row(slot)
	if err == nil {
		record.ReadFloat32s(dst, vector)
	}
	return err
}

func (r records) row(slot uint32) (row, []byte, error) {
	key := uint64(r.c.slots.keys[slot])
	row, vector, err := decodeRow(r.bucket.Get(keyBytes(key)), r.c.dims)
	if err != nil {
		err = fmt.Errorf("vector %d of collection %q: %w", key, r.c.name, err)
	}
	return row, vector, err
}
