package hnsw

import "context"

// proveShare is the share of the nodes, as 1/n, that may be added before Add looks whether all are still reachable: the
// look takes a few percent of the time that so many additions take.
const proveShare = 64

// prove makes sure that searches can find every node, when enough were added since the last time. Links that a list
// drops for better ones may have been the last to a node; that happens to about one in ten thousand.
func (g *Graph) prove(ctx context.Context, n *nodes) error {
	if g.unproved*proveShare < n.count {
		return nil
	}
	return g.repair(ctx, n)
}

// Repair makes sure now that searches can find every live slot; Add does so from time to time, and Consolidate.
func (g *Graph) Repair(ctx context.Context) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return ErrClosed
	}
	return g.repair(ctx, n)
}

// repair links the leaders that no search can find, or whose list is empty.
func (g *Graph) repair(ctx context.Context, n *nodes) error {
	slot, _, ok := n.top()
	if !ok {
		return nil
	}
	var reached bits
	w := g.worker()
	defer g.workers.Put(w)
	w.reach(n, slot, &reached)
	for _, slot := range n.leaders(func(slot uint32) bool { return !n.gone(slot) }) {
		found := reached.has(slot)
		if found && n.links(slot, 0)[0].Load() != 0 {
			continue
		}
		if err := g.attach(ctx, w, n, slot, found); err != nil {
			return err
		}
		w.reach(n, slot, &reached)
	}
	g.unproved = 0
	return nil
}

// reach adds to a set of slots those on the lowest layer that links lead to, beginning with one.
func (w *worker) reach(n *nodes, from uint32, reached *bits) {
	if !reached.add(from) {
		return
	}
	stack := []uint32{from}
	for len(stack) > 0 {
		slot := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		w.slots = n.neighbours(slot, 0, w.slots[:0])
		for _, next := range w.slots {
			if reached.add(next) {
				stack = append(stack, next)
			}
		}
	}
}

// attach gives a slot links on the lowest layer if it has none, and a link to it if it is not found yet.
func (g *Graph) attach(ctx context.Context, w *worker, n *nodes, slot uint32, found bool) error {
	from, top, _ := n.top()
	w.vectors.PrepareSlot(slot, &w.query)
	w.starts = append(w.starts[:0], w.descend(n, &w.query, w.keyOf(&w.query, from), top, 0))
	if err := w.beam(ctx, n, &w.query, 0, g.config.EfConstruction, nil); err != nil {
		return err
	}
	near := make([]key, 0, len(w.found))
	for _, k := range w.found {
		if k.slot() != slot {
			near = append(near, k)
		}
	}
	if len(near) == 0 {
		return nil
	}
	if n.links(slot, 0)[0].Load() == 0 {
		n.setLinks(slot, 0, w.choose(near, n.m))
	}
	if !found {
		n.adopt(near, slot)
	}
	return nil
}

// adopt links one of some nodes to a slot that none leads to: the first that has room. If none has, the nearest gives
// its last link to the slot, which leads on to where that led: nothing becomes unreachable.
func (n *nodes) adopt(near []key, slot uint32) {
	for _, k := range near {
		list := n.links(k.slot(), 0)
		for i := range list {
			if list[i].Load() == 0 {
				list[i].Store(slot + 1)
				return
			}
		}
	}
	list := n.links(near[0].slot(), 0)
	last := &list[len(list)-1]
	own := n.links(slot, 0)
	at := 0
	for at < len(own)-1 && own[at].Load() != 0 && own[at].Load() != last.Load() {
		at++
	}
	own[at].Store(last.Load())
	last.Store(slot + 1)
}
