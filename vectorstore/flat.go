package vectorstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// FlatConfig sets up a [Flat].
type FlatConfig struct {
	Workers int `json:"workers"` // goroutines a search of a large collection may use; 0: GOMAXPROCS; at least 0
}

// Flat finds the nearest vectors exactly, by comparing the question with every vector whose record matches the filter.
// The vectors lie in memory, about 1.1 times their raw size, and in <dir>/rag.db; a collection is read at its first use.
// It is safe for concurrent use, also several on one directory.
type Flat struct {
	db      *boltkv.DB // nil: memory only
	workers int

	write sync.Mutex // one Upsert, Delete or Drop at a time

	mu          sync.RWMutex
	collections map[string]*slab
}

var (
	_ rag.VectorStore   = (*Flat)(nil)
	_ rag.IDLister      = (*Flat)(nil)
	_ rag.Dropper       = (*Flat)(nil)
	_ rag.VectorReader  = (*Flat)(nil)
	_ rag.Fingerprinter = (*Flat)(nil)
)

// OpenFlat opens the vectors in a directory, and makes the directory where it is missing; dir "" keeps them in memory
// only. ErrLocked names the process that has it open; a file that is corrupted, of a newer version or not ours is
// ErrInvalid and stays untouched.
func OpenFlat(dir string, c FlatConfig) (*Flat, error) {
	if c.Workers < 0 {
		return nil, fmt.Errorf("flat: workers is %d, it cannot be below 0: %w", c.Workers, rag.ErrInvalid)
	}
	f := &Flat{workers: c.Workers, collections: map[string]*slab{}}
	if f.workers == 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	if dir == "" {
		return f, nil
	}
	db, err := boltkv.Open(dir)
	if err != nil {
		return nil, kind(err)
	}
	if err := db.View(checkVersion); err != nil {
		_ = db.Close() // the error at hand says more
		return nil, kind(err)
	}
	f.db = db
	return f, nil
}

// Close gives the memory back and closes the file with its last user.
func (f *Flat) Close() error {
	f.mu.Lock()
	f.collections = map[string]*slab{}
	f.mu.Unlock()
	if f.db == nil {
		return nil
	}
	return f.db.Close()
}

// Fingerprint names the layout of the stored vectors; the results depend on nothing else.
func (f *Flat) Fingerprint() string { return fmt.Sprintf("flat/%d", layoutVersion) }

// Upsert writes records durably; of several with one ID the last counts. Nothing is written if one of them is refused: a
// vector of another length is ErrDimension; one that is empty, zero or not finite, an empty ID, or metadata of another
// kind is ErrInvalid.
func (f *Flat) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	if err := checkCall(ctx, collection); err != nil || len(recs) == 0 {
		return err
	}
	rows, err := prepare(recs)
	if err != nil {
		return err
	}
	f.write.Lock()
	defer f.write.Unlock()
	for batch := range slices.Chunk(rows, boltkv.BatchRecords) {
		err := f.change(ctx, collection, func(s *slab) error { return f.upsert(collection, s, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

// upsert writes one batch; s is nil where the collection is new.
func (f *Flat) upsert(collection string, s *slab, batch []row) error {
	dims := len(batch[0].vector)
	switch {
	case s == nil:
		s = newSlab(dims)
	case s.dims != dims:
		return fmt.Errorf("collection %q holds vectors of %d dimensions, got %d: %w", collection, s.dims, dims, rag.ErrDimension)
	}
	gen, err := f.store(collection, s, batch)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.gen = gen
	f.collections[collection] = s
	return s.put(batch)
}

// Search returns the K best matches of the filter by descending cosine, ties by ID.
func (f *Flat) Search(ctx context.Context, collection string, q rag.VectorQuery) ([]rag.Match, error) {
	if err := checkCall(ctx, collection); err != nil {
		return nil, err
	}
	if err := q.Filter.Validate(); err != nil {
		return nil, err
	}
	if err := checkVector(q.Vector); err != nil {
		return nil, fmt.Errorf("search for a vector: %w", err)
	}
	var matches []rag.Match
	err := f.read(collection, func(s *slab) (err error) {
		if s.dims != len(q.Vector) {
			return fmt.Errorf("collection %q holds vectors of %d dimensions, asked with %d: %w", collection, s.dims, len(q.Vector), rag.ErrDimension)
		}
		matches, err = s.search(ctx, q, f.workers)
		return err
	})
	return matches, err
}

// Delete removes records durably; absent IDs are not an error.
func (f *Flat) Delete(ctx context.Context, collection string, ids []string) error {
	if err := checkCall(ctx, collection); err != nil {
		return err
	}
	f.write.Lock()
	defer f.write.Unlock()
	for batch := range slices.Chunk(ids, boltkv.BatchRecords) {
		err := f.change(ctx, collection, func(s *slab) error { return f.remove(collection, s, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes one batch; s is nil where the collection is unknown.
func (f *Flat) remove(collection string, s *slab, batch []string) error {
	if s == nil {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(batch), func(id string) bool { return !s.has(id) })
	if len(known) == 0 {
		return nil
	}
	gen, err := f.unstore(collection, s, known)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.gen = gen
	s.remove(known)
	return nil
}

// change has fn write to a collection, and again with what is stored where another Flat on the directory came first.
// The caller holds f.write.
func (f *Flat) change(ctx context.Context, collection string, fn func(*slab) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := f.current(collection)
		if err != nil {
			return err
		}
		if err := fn(s); !errors.Is(err, errStale) {
			return err
		}
	}
}

// IDs yields the IDs of a collection, sorted, as they are when the iteration begins.
func (f *Flat) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var ids []string
		err := checkCall(ctx, collection)
		if err == nil {
			err = f.read(collection, func(s *slab) error {
				ids = slices.Clone(s.ids)
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
func (f *Flat) Vectors(ctx context.Context, collection string, ids []string) ([][]float32, error) {
	if err := checkCall(ctx, collection); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(ids))
	err := f.read(collection, func(s *slab) error {
		for i, id := range ids {
			if row, ok := s.rows[id]; ok {
				vectors[i] = slices.Clone(s.vector(row))
			}
		}
		return nil
	})
	return vectors, err
}

// Drop removes a collection; an unknown one is not an error.
func (f *Flat) Drop(ctx context.Context, collection string) error {
	if err := checkCall(ctx, collection); err != nil {
		return err
	}
	f.write.Lock()
	defer f.write.Unlock()
	if err := f.dropStored(collection); err != nil {
		return err
	}
	f.mu.Lock()
	delete(f.collections, collection)
	f.mu.Unlock()
	return nil
}

// checkCall is what every call begins with.
func checkCall(ctx context.Context, collection string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := boltkv.CheckName(collection); err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// read runs fn on a collection that nobody changes meanwhile; an unknown collection is left out.
func (f *Flat) read(collection string, fn func(*slab) error) error {
	fresh, err := f.fresh(collection)
	if err == nil && !fresh {
		f.write.Lock()
		_, err = f.current(collection)
		f.write.Unlock()
	}
	if err != nil {
		return err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if s := f.collections[collection]; s != nil {
		return fn(s)
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
