package vectorstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// store is what Flat and HNSW are made of: records in <dir>/rag.db, which are the truth, and collections in memory, read
// at their first use. The two differ in how vectors are kept in memory and in whether large collections have a graph.
type store struct {
	db      *boltkv.DB // nil: memory only
	dir     string
	workers int
	kind    slab.Kind
	tuning  *tuning // nil: no graphs

	temporary bool // the directory goes when the store is closed: nothing is kept for a later run

	write    sync.Mutex     // one change at a time
	builders sync.WaitGroup // goroutines that link graphs

	mu          sync.RWMutex
	collections map[string]*collection
}

// open opens the file and fills in what the two stores share.
func (s *store) open(dir string, workers int) error {
	s.workers, s.collections = workers, map[string]*collection{}
	if workers == 0 {
		s.workers = runtime.GOMAXPROCS(0)
	}
	if dir == "" {
		return nil
	}
	db, err := boltkv.Open(dir)
	if err != nil {
		return kind(err)
	}
	if err := db.View(checkVersion); err != nil {
		_ = db.Close() // the error at hand says more
		return kind(err)
	}
	s.db, s.dir = db, dir
	return nil
}

// Compact makes the file smaller by the space that deleted records left.
func (s *store) Compact(ctx context.Context) (freed int64, err error) {
	if s.db == nil || ctx.Err() != nil {
		return 0, ctx.Err()
	}
	freed, err = s.db.Compact()
	return freed, kind(err)
}

// Close keeps what saves time at the next opening, gives the memory back and closes the file with its last user.
func (s *store) Close() error {
	s.write.Lock()
	s.mu.Lock()
	all := s.collections
	s.collections = map[string]*collection{}
	s.mu.Unlock()
	var errs []error
	for _, name := range sortedKeys(all) {
		c := all[name]
		if c.stale(closeShare) && !s.temporary {
			errs = append(errs, c.graph.Repair(context.Background()), s.save(c))
		}
		errs = append(errs, c.close())
	}
	s.write.Unlock()
	s.builders.Wait()
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// Upsert writes records durably; of several with one ID the last counts. Nothing is written if one of them is refused: a
// vector of another length is ErrDimension; one that is empty, zero or not finite, an empty ID, or metadata of another
// kind is ErrInvalid.
func (s *store) Upsert(ctx context.Context, name string, recs []rag.VectorRecord) error {
	if err := checkCall(ctx, name); err != nil || len(recs) == 0 {
		return err
	}
	rows, err := prepare(recs)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(rows, boltkv.BatchRecords) {
		err := s.change(ctx, name, func(c *collection) error { return s.upsert(ctx, name, c, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

// upsert writes one batch; c is nil where the collection is new.
func (s *store) upsert(ctx context.Context, name string, c *collection, batch []row) error {
	dims := len(batch[0].vector)
	if c != nil && c.dims != dims {
		return fmt.Errorf("collection %q holds vectors of %d dimensions, got %d: %w", name, c.dims, dims, rag.ErrDimension)
	}
	isNew := c == nil
	if isNew {
		var err error
		if c, err = newCollection(name, dims, s.kind); err != nil {
			return err
		}
		if s.db == nil {
			c.ids = []string{}
		}
	}
	if err := s.link(ctx, c); err != nil {
		return err
	}
	taken, gen, err := s.putAndKeep(ctx, c, batch)
	if err != nil {
		if isNew {
			err = errors.Join(err, c.close())
		}
		return err
	}
	c.publish(batch, taken, gen)
	if isNew {
		s.mu.Lock()
		s.collections[name] = c
		s.mu.Unlock()
	}
	return s.settle(ctx, c)
}

// putAndKeep prepares rows in memory, which takes longest, and stores them; at an error nothing is left of them.
func (s *store) putAndKeep(ctx context.Context, c *collection, rows []row) (taken []uint32, gen uint64, err error) {
	if taken, err = c.put(ctx, rows); err != nil {
		return nil, 0, err
	}
	if gen, err = s.keep(c, rows); err != nil {
		c.withdraw(taken)
	}
	return taken, gen, err
}

// keep stores rows in the file, and finds out which records they replace.
func (s *store) keep(c *collection, rows []row) (gen uint64, err error) {
	find := func(r *row, in records) (err error) {
		if r.old, r.replaces, err = c.slotOf(in, r.id); r.replaces {
			r.key = uint64(c.slots.keys[r.old])
		}
		return err
	}
	if s.db == nil {
		for i := range rows {
			if err := find(&rows[i], records{c: c}); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	gen, err = s.commit(c, func(w *write) error {
		for i := range rows {
			r := &rows[i]
			r.key = 0
			if err := find(r, records{c, w.records}); err != nil {
				return err
			}
			if err := w.store(r); err != nil {
				return err
			}
			if err := checkKey(c.name, r.key); err != nil {
				return err
			}
		}
		return nil
	})
	return gen, kind(err)
}

// settle is what follows a change: slots are freed, a collection that has grown large gets a graph, and a snapshot is
// written if the last one is old.
func (s *store) settle(ctx context.Context, c *collection) error {
	if err := c.tidy(ctx); err != nil {
		return err
	}
	if err := s.link(ctx, c); err != nil {
		return err
	}
	if !c.stale(changeShare) {
		return nil
	}
	if err := s.measure(ctx, c); err != nil {
		return err
	}
	return s.save(c)
}

// Delete removes records durably; absent IDs are not an error.
func (s *store) Delete(ctx context.Context, name string, ids []string) error {
	if err := checkCall(ctx, name); err != nil {
		return err
	}
	for batch := range slices.Chunk(ids, boltkv.BatchRecords) {
		err := s.change(ctx, name, func(c *collection) error { return s.remove(ctx, c, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes one batch; c is nil where the collection is unknown.
func (s *store) remove(ctx context.Context, c *collection, ids []string) error {
	if c == nil {
		return nil
	}
	slots, err := s.slotsOf(c, ids)
	if err != nil || len(slots) == 0 {
		return err
	}
	gen := c.gen
	if s.db != nil {
		gen, err = s.commit(c, func(w *write) error {
			for _, slot := range slots {
				if err := w.remove(uint64(c.slots.keys[slot])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return kind(err)
		}
	}
	c.remove(slots, gen)
	return s.settle(ctx, c)
}

// slotsOf returns the slots of the IDs that are there, each once. errStale: the collection was changed meanwhile.
func (s *store) slotsOf(c *collection, ids []string) (found []uint32, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		in := records{c: c}
		if tx != nil {
			b, h, err := stored(tx, c.name)
			if err != nil {
				return err
			}
			if h.gen != c.gen {
				return errStale
			}
			in.bucket = b.Bucket(recordsBucket)
		}
		for _, id := range ids {
			slot, ok, err := c.slotOf(in, id)
			if err != nil {
				return err
			}
			if ok && !slices.Contains(found, slot) {
				found = append(found, slot)
			}
		}
		return nil
	})
	return found, err
}

// change has fn write to a collection, and again with what is stored where another store on the directory came first.
func (s *store) change(ctx context.Context, name string, fn func(*collection) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.current(name)
		if err != nil {
			return err
		}
		if err := fn(c); !errors.Is(err, errStale) {
			return err
		}
	}
}

// Drop removes a collection; an unknown one is not an error.
func (s *store) Drop(ctx context.Context, name string) error {
	if err := checkCall(ctx, name); err != nil {
		return err
	}
	s.write.Lock()
	defer s.write.Unlock()
	if s.db != nil {
		if err := s.dropStored(name); err != nil {
			return kind(err)
		}
	}
	return errors.Join(s.swap(name, nil), s.removeSnapshot(name))
}

// swap puts another collection, or none, in the place of what is in memory.
func (s *store) swap(name string, c *collection) error {
	s.mu.Lock()
	old := s.collections[name]
	if c == nil {
		delete(s.collections, name)
	} else {
		s.collections[name] = c
	}
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.close()
}

// checkCall is what every call begins with.
func checkCall(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := boltkv.CheckName(name); err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// kind adds the kind that a caller can test for to an error of the layers below.
func kind(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boltkv.ErrLocked):
		return fmt.Errorf("%w: %w", err, rag.ErrLocked)
	case errors.Is(err, boltkv.ErrDamaged), errors.Is(err, boltkv.ErrFormat), errors.Is(err, record.ErrKind):
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return err
}
