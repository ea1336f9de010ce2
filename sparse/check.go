package sparse

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
)

var _ rag.Checker = (*BM25)(nil)

// Check reads every part of a collection's index in the file, details too.
func (x *BM25) Check(ctx context.Context, collection string) (problems []rag.Problem, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	wrong, err := x.keep.check(collection)
	if wrong != nil {
		problems = []rag.Problem{{Message: wrong.Error()}}
	}
	return problems, err
}

// check tells in wrong what cannot be read, in err what kept it from looking.
func (k *boltKeeper) check(collection string) (wrong, err error) {
	err = k.db.View(func(tx *bolt.Tx) error {
		if b := collectionBucket(tx, collection); b != nil {
			wrong = k.readAll(b)
		}
		return nil
	})
	return wrong, storeError(err)
}

// readAll reads a collection as if nothing of it were in memory.
func (k *boltKeeper) readAll(b *bolt.Bucket) error {
	m, err := readManifest(b, k.fingerprint)
	if err != nil {
		return err
	}
	index, err := readIndex(b, m, nil)
	if err != nil {
		return err
	}
	for _, p := range index.Parts() {
		if _, err := readDetail(b, m, p); err != nil {
			return err
		}
	}
	return nil
}

func (k *memoryKeeper) check(string) (wrong, err error) { return nil, nil }
