package vectorstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// Search returns the K best matches of the filter by descending cosine, ties by ID.
func (s *store) Search(ctx context.Context, name string, q rag.VectorQuery) ([]rag.Match, error) {
	if err := checkCall(ctx, name); err != nil {
		return nil, err
	}
	if err := q.Filter.Validate(); err != nil {
		return nil, err
	}
	if err := checkVector(q.Vector); err != nil {
		return nil, fmt.Errorf("search for a vector: %w", err)
	}
	var matches []rag.Match
	err := s.read(ctx, name, func(in records) (err error) {
		if dims := in.c.dims; dims != len(q.Vector) {
			return fmt.Errorf("collection %q holds vectors of %d dimensions, asked with %d: %w", name, dims, len(q.Vector), rag.ErrDimension)
		}
		matches, err = s.search(ctx, in, q)
		return err
	})
	return matches, err
}

// IDs yields the IDs of a collection, sorted, as they are when the iteration begins.
func (s *store) IDs(ctx context.Context, name string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var ids []string
		err := checkCall(ctx, name)
		if err == nil {
			err = s.read(ctx, name, func(in records) error {
				ids = make([]string, 0, in.c.slots.n)
				for slot := range in.c.slots.live.All() {
					id, err := in.id(slot)
					if err != nil {
						return err
					}
					ids = append(ids, id)
				}
				return nil
			})
		}
		if err != nil {
			yield("", err)
			return
		}
		slices.Sort(ids)
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// Vectors returns stored vectors in the order of ids, nil where there is none.
func (s *store) Vectors(ctx context.Context, name string, ids []string) ([][]float32, error) {
	if err := checkCall(ctx, name); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(ids))
	err := s.read(ctx, name, func(in records) error {
		for i, id := range ids {
			slot, ok, err := in.c.slotOf(in, id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			vectors[i] = make([]float32, in.c.dims)
			if err := in.vector(slot, vectors[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return vectors, err
}

// view runs fn in a transaction; without a file there is none.
func (s *store) view(fn func(tx *bolt.Tx) error) error {
	if s.db == nil {
		return fn(nil)
	}
	return kind(s.db.View(fn))
}

// read runs fn on a collection that nobody changes meanwhile, in the transaction that its copy in memory agrees with; an
// unknown collection is left out.
func (s *store) read(ctx context.Context, name string, fn func(in records) error) error {
	for {
		fresh := false
		err := s.view(func(tx *bolt.Tx) (err error) {
			fresh, err = s.readIn(tx, name, fn)
			return err
		})
		if err != nil || fresh {
			return err
		}
		if err := s.refresh(ctx, name); err != nil {
			return err
		}
	}
}

// readIn reports false where the copy in memory is missing or old.
func (s *store) readIn(tx *bolt.Tx, name string, fn func(in records) error) (fresh bool, err error) {
	s.mu.RLock()
	c := s.collections[name]
	s.mu.RUnlock()
	in := records{c: c}
	gen := uint64(0)
	if tx != nil {
		b, h, err := stored(tx, name)
		if err != nil {
			return false, err
		}
		if gen = h.gen; b != nil {
			in.bucket = b.Bucket(recordsBucket)
		}
	}
	if c == nil {
		return gen == 0, nil
	}
	// A transaction before the lock: a writer's commit may wait for transactions to end, and holds no lock then.
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed || c.gen != gen {
		return false, nil
	}
	return true, fn(in)
}

// refresh reads a collection whose copy in memory is missing or old. A graph that has to be built is built aside.
func (s *store) refresh(ctx context.Context, name string) error {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.current(name)
	if err != nil || c == nil {
		return err
	}
	return s.linkAside(ctx, c)
}

// current returns the collection as it is stored, or nil if it is unknown. The caller holds s.write.
func (s *store) current(name string) (*collection, error) {
	s.mu.RLock()
	c := s.collections[name]
	s.mu.RUnlock()
	if s.db == nil {
		return c, nil
	}
	var now *collection
	err := s.db.View(func(tx *bolt.Tx) error {
		b, h, err := stored(tx, name)
		if err != nil {
			return err
		}
		switch {
		case b == nil:
		case c != nil && c.gen == h.gen:
			now = c
		default:
			now, err = s.load(name, b, h)
		}
		return err
	})
	if err != nil {
		return nil, kind(err)
	}
	if now != c {
		err = s.swap(name, now)
	}
	return now, err
}

// load reads a collection: from its snapshot and what came after, or from all its records.
func (s *store) load(name string, b *bolt.Bucket, h header) (*collection, error) {
	c, damage := s.restore(name, b, h)
	if c != nil {
		return c, nil
	}
	var err error
	if c, err = newCollection(name, h.dims, s.kind); err != nil {
		return nil, err
	}
	c.gen, c.links.damage = h.gen, damage
	vector := make([]float32, h.dims)
	err = b.Bucket(recordsBucket).ForEach(func(k, v []byte) error {
		if len(k) != keyLen {
			return fmt.Errorf("vector %x of collection %q: %w", k, name, record.ErrDamaged)
		}
		return c.load(binary.BigEndian.Uint64(k), v, vector)
	})
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
