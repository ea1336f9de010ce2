package vectorstore

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
)

var (
	_ rag.Checker = (*Flat)(nil)
	_ rag.Checker = (*HNSW)(nil)
)

// Check reads every record of a collection in the file. What is in memory, and a graph, are made from them.
func (s *store) Check(ctx context.Context, collection string) (problems []rag.Problem, err error) {
	if err := ctx.Err(); err != nil || s.db == nil {
		return nil, err
	}
	err = s.view(func(tx *bolt.Tx) error {
		b, h, err := stored(tx, collection)
		if b == nil && err == nil {
			return nil
		}
		if err == nil {
			err = checkRecords(ctx, b, h)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			problems = []rag.Problem{{Message: err.Error()}}
		}
		return nil
	})
	return problems, err
}

// checkRecords reads the records: each is whole, and a passage has one.
func checkRecords(ctx context.Context, b *bolt.Bucket, h header) error {
	seen := map[string]bool{}
	return b.Bucket(recordsBucket).ForEach(func(key, value []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, _, err := decodeRow(value, h.dims)
		switch {
		case err != nil:
			return fmt.Errorf("vector %x: %w", key, err)
		case len(key) != keyLen:
			return fmt.Errorf("vector %x has a key of %d bytes, not %d", key, len(key), keyLen)
		case seen[r.id]:
			return fmt.Errorf("two vectors are that of passage %s", r.id)
		}
		seen[r.id] = true
		return nil
	})
}
