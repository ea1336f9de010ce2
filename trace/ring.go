package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

const defaultRingSize = 100

// RingConfig sets how much a ring remembers.
type RingConfig struct {
	// Size is the number of traces that are kept; 0: 100.
	Size int `json:"size,omitzero" range:"[1,1000000]"`
}

// Ring is the trace sink "ring": it keeps the last traces in memory, and reads them back. It is safe for concurrent use.
type Ring struct {
	size int

	mu    sync.Mutex // guards what follows
	kept  []entry    // oldest first
	names interner
}

var (
	_ rag.TraceSink = (*Ring)(nil)
	_ Reader        = (*Ring)(nil)
)

// NewRing returns an empty ring. A negative size counts as zero.
func NewRing(c RingConfig) *Ring {
	if c.Size <= 0 {
		c.Size = defaultRingSize
	}
	return &Ring{size: c.Size}
}

// Record keeps t and forgets the oldest trace if there are too many.
func (r *Ring) Record(ctx context.Context, t *rag.Trace) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("trace %s cannot be kept: %v: %w", t.ID, err, rag.ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := summarize(slices.Clone(text), &r.names)
	if !ok {
		return fmt.Errorf("a trace without an ID cannot be kept: %w", rag.ErrInvalid)
	}
	if len(r.kept) == r.size {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	e.text = text
	r.kept = append(r.kept, e)
	return nil
}

// newest yields the entries, newest first. The caller holds the lock.
func (r *Ring) newest() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for i := len(r.kept) - 1; i >= 0; i-- {
			if !yield(&r.kept[i]) {
				return
			}
		}
	}
}

// List is that of [Reader].
func (r *Ring) List(ctx context.Context, q Query) (Page, error) {
	if err := ctx.Err(); err != nil {
		return Page{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return list(r.newest(), q)
}

// Stats is that of [Reader].
func (r *Ring) Stats(ctx context.Context, q Query, buckets int) ([]Bucket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return stats(r.newest(), q, buckets)
}

// Get is that of [Reader].
func (r *Ring) Get(ctx context.Context, id string) (t rag.Trace, err error) {
	if err := ctx.Err(); err != nil {
		return t, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := find(r.newest(), id)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(e.text, &t)
}

// All yields the traces that are kept when it is ranged over, oldest first.
func (r *Ring) All() iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		r.mu.Lock()
		all := slices.Clone(r.kept)
		r.mu.Unlock()
		for _, k := range all {
			var t rag.Trace
			if err := json.Unmarshal(k.text, &t); err != nil {
				yield(rag.Trace{}, fmt.Errorf("read a kept trace: %w", err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}
