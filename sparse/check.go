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
		b := collectionBucket(tx, collection)
		if b == nil {
			return nil
		}
		m, err := readManifest(b, k.fingerprint)
		if err != nil {
			wrong = err
			return nil
		}
		index, err := readIndex(b, m, nil) // not what is in memory
		if err != nil {
			wrong = err
			return nil
		}
		for _, p := range index.Parts() {
			if _, err := readDetail(b, m, p); err != nil {
				wrong = err
				return nil
			}
		}
		return nil
	})
	return wrong, storeError(err)
}

func (k *memoryKeeper) check(string) (wrong, err error) { return nil, nil }
