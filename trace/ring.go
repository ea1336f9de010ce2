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
	Size int `json:"size"`
}

// Ring is the trace sink "ring": it keeps the last traces in memory. It is safe for concurrent use.
type Ring struct {
	size int

	mu     sync.Mutex
	traces [][]byte // as JSON, oldest first: nobody can change what was recorded
}

var _ rag.TraceSink = (*Ring)(nil)

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
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("trace %s cannot be kept: %v: %w", t.ID, err, rag.ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.traces) == r.size {
		r.traces = slices.Delete(r.traces, 0, 1)
	}
	r.traces = append(r.traces, line)
	return nil
}

// All yields the traces that are kept when it is ranged over, oldest first, as [Read] does for those on disk.
func (r *Ring) All() iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		r.mu.Lock()
		lines := slices.Clone(r.traces)
		r.mu.Unlock()
		for _, line := range lines {
			var t rag.Trace
			if err := json.Unmarshal(line, &t); err != nil {
				yield(rag.Trace{}, fmt.Errorf("read a kept trace: %w", err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}
