package vectorstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// collection is what of a collection lies in memory: the vectors by slot, which slot is which record, and what filters look
// at. Writers, of which there is one at a time, prepare a change aside and make it visible under mu.
type collection struct {
	name string
	dims int

	mu      sync.RWMutex // held for reading while a search runs
	closed  bool
	gen     uint64 // of what is stored
	slots   slots
	fields  *fields
	vectors *slab.Slab
	ids     []string    // by slot, where there is no file
	graph   *hnsw.Graph // nil: searches compare with every vector

	links links // for writers only
}

func newCollection(name string, dims int, kind slab.Kind) (*collection, error) {
	vectors, err := slab.New(kind, dims)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", name, err)
	}
	return &collection{name: name, dims: dims, fields: newFields(), vectors: vectors}, nil
}

// close gives the memory back when no search runs any more.
func (c *collection) close() error {
	if c.links.stop != nil {
		c.links.stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	err := c.vectors.Close()
	if c.links.graph != nil {
		err = errors.Join(c.links.graph.Close(), err)
	}
	return err
}

// put prepares rows: their vectors get slots, and are linked in the graph if there is one. Searches do not see them.
func (c *collection) put(ctx context.Context, rows []row) (taken []uint32, err error) {
	taken = c.slots.reserve(len(rows))
	for i, slot := range taken {
		if err := c.vectors.Set(slot, rows[i].vector); err != nil {
			return nil, err // only these slots were written, and they are not taken yet
		}
	}
	if c.links.graph == nil {
		return taken, nil
	}
	// A batch takes a fraction of a second; cut short, it would leave slots to clean up.
	if err := c.links.graph.Add(context.WithoutCancel(ctx), taken); err != nil {
		c.withdraw(taken)
		return nil, err
	}
	return taken, nil
}

// withdraw gives up slots that put has taken.
func (c *collection) withdraw(taken []uint32) {
	c.mu.Lock()
	for _, slot := range taken {
		c.slots.set(slot, 0, 0)
		c.slots.remove(slot)
	}
	c.mu.Unlock()
	if c.links.graph != nil {
		c.links.graph.Delete(taken)
	}
}

// publish makes rows visible that are stored, in place of those that they replace.
func (c *collection) publish(rows []row, taken []uint32, gen uint64) {
	var old []uint32
	c.mu.Lock()
	for i := range rows {
		r := &rows[i]
		if r.replaces {
			c.slots.remove(r.old)
			old = append(old, r.old)
		}
		c.enter(taken[i], r)
	}
	c.gen = gen
	c.mu.Unlock()
	c.unlink(old)
	c.links.changed += len(rows)
}

// enter notes a record whose vector is set. The caller keeps searches out.
func (c *collection) enter(slot uint32, r *row) {
	c.slots.set(slot, hashOf(r.id), r.key)
	c.fields.add(slot, r.meta, r.validity)
	if c.ids != nil {
		for len(c.ids) <= int(slot) {
			c.ids = append(c.ids, "")
		}
		c.ids[slot] = r.id
	}
}

// remove makes records that are deleted from the file invisible.
func (c *collection) remove(old []uint32, gen uint64) {
	c.mu.Lock()
	for _, slot := range old {
		c.slots.remove(slot)
	}
	c.gen = gen
	c.mu.Unlock()
	c.unlink(old)
	c.links.changed += len(old)
}

// unlink takes slots out of the graph that are not live any more.
func (c *collection) unlink(old []uint32) {
	if c.links.graph != nil && len(old) > 0 {
		c.links.graph.Delete(old)
	}
}

// Slots of records that are gone are freed when they are more than this, and more than one in goneShare.
const (
	goneMin   = 1000
	goneShare = 5
)

// tidy frees the slots of records that are gone, if there are many: in the graph first, which links around them.
func (c *collection) tidy(ctx context.Context) error {
	if c.slots.gone <= max(goneMin, c.slots.count()/goneShare) {
		return nil
	}
	if c.links.graph != nil {
		if _, err := c.links.graph.Consolidate(ctx); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fields.forget(c.slots.reclaim())
	return nil
}

// slotOf returns the slot of an ID.
func (c *collection) slotOf(in records, id string) (uint32, bool, error) {
	return c.slots.find(hashOf(id), func(slot uint32) (bool, error) {
		have, err := in.id(slot)
		return have == id, err
	})
}

// load reads a row from the file into the next slot. The caller keeps searches out.
func (c *collection) load(key uint64, value []byte, vector []float32) error {
	r, raw, err := decodeRow(value, c.dims)
	if err != nil {
		return fmt.Errorf("vector %d of collection %q: %w", key, c.name, err)
	}
	if r.meta, r.validity, err = decodeFields(r.fields); err != nil {
		return fmt.Errorf("vector %d of collection %q: %w", key, c.name, err)
	}
	if err := checkKey(c.name, key); err != nil {
		return err
	}
	record.ReadFloat32s(vector, raw)
	r.key = key
	slot := c.slots.reserve(1)[0]
	if err := c.vectors.Set(slot, vector); err != nil {
		return err
	}
	c.enter(slot, &r)
	return nil
}
