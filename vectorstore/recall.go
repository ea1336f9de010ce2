package vectorstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// recallK is the K that recall is measured at, and recallQuestions how many stored vectors are asked for their neighbours:
// enough to tell 0.98 from 0.95.
const (
	recallK         = 10
	recallQuestions = 200
)

// Recall returns what was last measured of a collection's graph: when it was built, had grown by half, or on demand. It is
// the zero value where there is no graph: then searches are exact. A collection that is not in memory is not read: its
// snapshot says it.
func (h *HNSW) Recall(ctx context.Context, collection string) (rag.Recall, error) {
	if err := checkCall(ctx, collection); err != nil {
		return rag.Recall{}, err
	}
	h.write.Lock()
	defer h.write.Unlock()
	h.mu.RLock()
	c := h.collections[collection]
	h.mu.RUnlock()
	if c == nil {
		return h.snapshotRecall(collection), nil
	}
	return c.links.recall, nil
}

// MeasureRecall brings a collection's graph up to date, looks at every node and link of it, and compares searches for a
// sample of the stored vectors with exact ones. What is wrong with graph or snapshot is told in the result.
func (h *HNSW) MeasureRecall(ctx context.Context, collection string) (r rag.Recall, err error) {
	if err := checkCall(ctx, collection); err != nil {
		return r, err
	}
	h.write.Lock()
	defer h.write.Unlock()
	c, err := h.current(collection)
	if err != nil || c == nil {
		return r, err
	}
	if err := h.link(ctx, c); err != nil || c.graph == nil {
		return r, err
	}
	if err := h.measure(ctx, c); err != nil {
		return r, err
	}
	r = c.links.recall
	if c.links.damage != "" {
		r.Problems = append(slices.Clip(r.Problems), c.links.damage)
	}
	return r, nil
}

// Rebuild builds a collection's graph anew from its records, and replaces the snapshot. It takes as long as writing the
// records did.
func (h *HNSW) Rebuild(ctx context.Context, collection string) error {
	if err := checkCall(ctx, collection); err != nil {
		return err
	}
	h.write.Lock()
	defer h.write.Unlock()
	if h.db == nil {
		return fmt.Errorf("collection %q lies in memory only: %w", collection, rag.ErrUnsupported)
	}
	if err := errors.Join(h.removeSnapshot(collection), h.swap(collection, nil)); err != nil {
		return err
	}
	c, err := h.current(collection)
	if err != nil || c == nil {
		return err
	}
	if err := h.link(ctx, c); err != nil || c.graph == nil {
		return err
	}
	if err := h.measure(ctx, c); err != nil {
		return err
	}
	return h.save(c)
}

// measure brings the graph up to date, looks at it, and asks for the neighbours of some stored vectors, evenly spread,
// without the vector itself.
func (s *store) measure(ctx context.Context, c *collection) error {
	if err := c.graph.Repair(ctx); err != nil {
		return err
	}
	report := c.graph.Check()
	r := rag.Recall{K: recallK, Records: c.slots.n, Unreachable: len(report.Unreachable), Problems: report.Broken}
	found, wanted := 0, 0
	every, i := max(1, c.slots.n/recallQuestions), 0
	for slot := range c.slots.live.All() {
		if i++; i%every != 0 || r.Sampled == recallQuestions {
			continue
		}
		good, all, err := s.compare(ctx, c, slot)
		if err != nil {
			return err
		}
		found, wanted = found+good, wanted+all
		r.Sampled++
	}
	if wanted > 0 {
		r.Value = float64(found) / float64(wanted)
	}
	c.links.recall = r
	return nil
}

// compare searches for the neighbours of a slot by the graph and exactly, and counts how many of the exact ones were found;
// what is as near as the last of them counts. Both see the vectors as they are kept in memory.
func (s *store) compare(ctx context.Context, c *collection, slot uint32) (found, wanted int, err error) {
	var q slab.Query
	c.vectors.PrepareSlot(slot, &q)
	k := recallK + 1 // itself
	got, err := s.walk(ctx, c, &q, k, c.slots.live, c.slots.n)
	if err != nil {
		return 0, 0, err
	}
	want, err := scan(ctx, c.vectors, &q, k, c.slots.live, s.workers)
	if err != nil {
		return 0, 0, err
	}
	want = want[:min(k, len(want))]
	worst := want[0].score
	for _, w := range want {
		worst = min(worst, w.score)
	}
	for _, g := range got {
		if g.slot != slot && g.score >= worst {
			found++
		}
	}
	wanted = len(want) - 1
	return min(found, wanted), wanted, nil
}
