package hnsw

import (
	"context"
	"slices"
)

// proveShare is the share of the nodes, as 1/n, that may be added before Add looks whether all can be found: the look
// takes about an eighth of the time of the additions.
const proveShare = 64

// proveAllShare is the share of the nodes, as 1/n, that may be added before those of before are looked at again: new
// nodes push links to old ones out of full lists. With 30 % added, one old node in 860 was no longer found.
const proveAllShare = 4

// quickEf is the width of a first look, which nine of ten nodes pass.
const quickEf = 16

// prove makes sure that searches find the nodes added since the last time, when they are enough. If the context ends it
// is left to the next time.
func (g *Graph) prove(ctx context.Context, n *nodes) {
	switch {
	case len(g.unproved)*proveShare < n.count:
	case g.added*proveAllShare < n.count:
		_ = g.repair(ctx, n, g.unproved)
	default:
		_ = g.repairAll(ctx, n)
	}
}

// Repair makes sure now of what Add looks at from time to time: that links lead to every live slot, and that searches at
// the default width find those added since the last look by their own vectors.
func (g *Graph) Repair(ctx context.Context) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return ErrClosed
	}
	return g.repair(ctx, n, g.unproved)
}

func (g *Graph) repairAll(ctx context.Context, n *nodes) error {
	if err := g.repair(ctx, n, n.leaders(func(uint32) bool { return true })); err != nil {
		return err
	}
	g.added = 0
	return nil
}

// repair links nodes that no links lead to, and those of some slots that a search for their own vector does not find:
// the heuristic keeps links within a small group of neighbours, and lists elsewhere drop those to it for nearer ones.
func (g *Graph) repair(ctx context.Context, n *nodes, slots []uint32) error {
	top, _, ok := n.top()
	if !ok {
		return nil
	}
	w := g.worker()
	defer g.workers.Put(w)
	var reached bits
	w.reach(n, top, &reached)
	lost := n.leaders(func(slot uint32) bool {
		return !n.gone(slot) && (!reached.has(slot) || n.links(slot, 0)[0].Load() == 0)
	})
	found := make([]bool, len(slots))
	g.parallel(len(slots), func(w *worker, i int) {
		slot := slots[i]
		found[i] = !n.of(slot).leader() || n.gone(slot) ||
			w.finds(ctx, n, slot, quickEf) || w.finds(ctx, n, slot, DefaultEf)
	})
	for i, slot := range slots {
		if !found[i] {
			lost = append(lost, slot)
		}
	}
	slices.Sort(lost)
	for _, slot := range slices.Compact(lost) {
		if err := g.attach(ctx, w, n, slot, &reached); err != nil {
			return err
		}
	}
	g.unproved = g.unproved[:0]
	return ctx.Err()
}

// finds reports whether a search for the vector of a leader finds it; w.found is what it finds.
func (w *worker) finds(ctx context.Context, n *nodes, slot uint32, ef int) bool {
	from, top, _ := n.top()
	w.vectors.PrepareSlot(slot, &w.query)
	w.starts = append(w.starts[:0], w.descend(n, &w.query, w.keyOf(&w.query, from), top, 0))
	err := w.beam(ctx, n, &w.query, 0, ef, nil)
	return err == nil && slices.ContainsFunc(w.found, func(k key) bool { return k.slot() == slot })
}

// reach adds to a set of slots those on the lowest layer that links lead to, beginning with one.
func (w *worker) reach(n *nodes, from uint32, reached *bits) {
	reached.add(from)
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

// attach gives a slot links on the lowest layer if it has none. If links lead to it from nowhere that was reached, or a
// search does not find it, it gets a link from where the search ends, so that the next one does. A search alone does not
// tell: it may begin at the slot, on a layer above.
func (g *Graph) attach(ctx context.Context, w *worker, n *nodes, slot uint32, reached *bits) error {
	found := w.finds(ctx, n, slot, DefaultEf)
	if err := ctx.Err(); err != nil {
		return err
	}
	near := slices.DeleteFunc(slices.Clone(w.found), func(k key) bool { return k.slot() == slot })
	if len(near) > 0 && n.links(slot, 0)[0].Load() == 0 {
		n.setLinks(slot, 0, w.choose(near, n.m))
	}
	if found && reached.has(slot) {
		return nil
	}
	near = slices.DeleteFunc(near, func(k key) bool { return !reached.has(k.slot()) })
	if top, _, _ := n.top(); len(near) == 0 && top != slot { // the search did not leave a group that nothing leads to
		near = append(near, pack(0, top))
	}
	if len(near) > 0 {
		n.adopt(near, slot)
		w.reach(n, slot, reached)
	}
	return nil
}

// adopt links one of some nodes to a slot that none of them leads to: the first that has room. If none has, the first
// that has a link to where the slot leads too gives this one, and if there is none such, the nearest gives its last link to
// the slot, which leads on to where that led: nothing becomes unreachable, but if the slot's own list is full as well.
func (n *nodes) adopt(near []key, slot uint32) {
	own := n.links(slot, 0)
	for _, k := range near {
		list := n.links(k.slot(), 0)
		for i := range list {
			if list[i].Load() == 0 {
				list[i].Store(slot + 1)
				return
			}
		}
	}
	for _, k := range near {
		list := n.links(k.slot(), 0)
		for i := range list {
			for j := range own {
				if own[j].Load() == list[i].Load() {
					list[i].Store(slot + 1)
					return
				}
			}
		}
	}
	list := n.links(near[0].slot(), 0)
	last := &list[len(list)-1]
	at := 0
	for at < len(own)-1 && own[at].Load() != 0 {
		at++
	}
	own[at].Store(last.Load())
	last.Store(slot + 1)
}
