package vectorstore

import (
	"context"
	"math"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/hnsw"
)

// tuning is what a store with graphs knows more than one without.
type tuning struct {
	graph      hnsw.Config
	ef         int // width of a search of the graph
	exactBelow int // records from which a collection has a graph
}

// links is what writers know of a collection's graph. A graph that is not whole, since it is being built or brought up to
// date, is not searched: until then every vector is compared.
type links struct {
	graph   *hnsw.Graph        // nil: there is none
	next    uint32             // slots below are in the graph, if it is not whole
	stop    context.CancelFunc // ends the goroutine that builds it; nil if there is none
	changed int                // records written and removed since the last snapshot
	recall  rag.Recall         // as last measured
	damage  string             // what was wrong with the snapshot, until the next is written
}

// stepSlots is how many records are linked at a time: some tenths of a second of work.
const stepSlots = 1000

// link brings the graph up to date, and builds it where the collection is large enough and has none. The caller holds
// s.write.
func (s *store) link(ctx context.Context, c *collection) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err := s.linkStep(ctx, c); done || err != nil {
			return err
		}
	}
}

// linkStep does a part of it. It is not cut short: that would leave slots to clean up.
func (s *store) linkStep(ctx context.Context, c *collection) (done bool, err error) {
	if !s.wantsGraph(c) {
		return true, nil
	}
	if part := c.unlinked(stepSlots); len(part) > 0 {
		return false, c.links.graph.Add(context.WithoutCancel(ctx), part)
	}
	c.mu.Lock()
	c.graph = c.links.graph
	c.mu.Unlock()
	return true, nil
}

// wantsGraph reports whether a collection is to have a graph, and has none that is whole. It begins one where there is none.
func (s *store) wantsGraph(c *collection) bool {
	if c.graph != nil || s.tuning == nil || c.links.graph == nil && c.slots.n < s.tuning.exactBelow {
		return false
	}
	if c.links.graph == nil {
		c.links.graph, c.links.changed = hnsw.New(c.vectors, s.tuning.graph), math.MaxInt/2 // no snapshot has it
	}
	return true
}

// unlinked returns up to most live slots that are not in the graph, in order.
func (c *collection) unlinked(most int) (part []uint32) {
	slot, end := c.links.next, uint32(c.slots.count())
	for ; slot < end && len(part) < most; slot++ {
		if c.slots.live.Has(slot) && !c.links.graph.Has(slot) {
			part = append(part, slot)
		}
	}
	c.links.next = slot
	if len(part) > 0 {
		c.links.next = part[0]
	}
	return part
}

// linkAside is link for a search, which does not wait: it compares every vector until the graph is whole. The caller
// holds s.write; the goroutine takes it for one step at a time.
func (s *store) linkAside(ctx context.Context, c *collection) error {
	if c.links.stop != nil || !s.wantsGraph(c) {
		return nil
	}
	if len(c.unlinked(1)) == 0 { // as read from a snapshot
		_, err := s.linkStep(ctx, c)
		return err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.links.stop = stop
	s.builders.Go(func() {
		defer stop()
		for done := false; !done; {
			s.write.Lock()
			if done = ctx.Err() != nil; !done {
				var err error
				done, err = s.linkStep(ctx, c)
				done = done || err != nil // out of memory: searches go on without
			}
			s.write.Unlock()
		}
	})
	return nil
}
