package hnsw

import (
	"cmp"
	"context"
	"slices"
)

// Consolidate frees the dead slots and returns which, in order. Nodes with links to a dead one choose among where it
// led (A. Singh et al., "FreshDiskANN: a fast and accurate graph-based ANN index for streaming similarity search",
// arXiv 2105.09613, Algorithm 4); where half of the nodes are dead, the graph is built anew. After an error, as of the
// context, nothing is freed and the graph works as before.
func (g *Graph) Consolidate(ctx context.Context) (freed []uint32, err error) {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return nil, ErrClosed
	}
	var all, alive []uint32
	for slot := range uint32(n.size.Load()) {
		switch node := n.of(slot); {
		case node.alive():
			alive = append(alive, slot)
		case node.state.Load() != 0:
			all = append(all, slot)
		}
	}
	if len(all) == 0 {
		return nil, ctx.Err()
	}
	gone := n.leaders(n.gone)
	if 2*len(gone) >= n.count {
		err = g.rebuild(ctx, alive)
	} else {
		err = g.unlink(ctx, n, gone, all)
	}
	if err != nil {
		return nil, err
	}
	g.dead.Add(int64(-len(all)))
	return all, nil
}

// gone reports whether a leader is dead, and all behind it.
func (n *nodes) gone(slot uint32) bool {
	for {
		node := n.of(slot)
		if node.alive() {
			return false
		}
		next := node.next.Load()
		if next == 0 {
			return true
		}
		slot = next - 1
	}
}

// rebuild puts a new graph of the live slots in place of the old one.
func (g *Graph) rebuild(ctx context.Context, alive []uint32) error {
	fresh := newNodes(g.config.M)
	err := g.reserve(fresh, alive)
	if err == nil {
		_, err = g.insert(ctx, fresh, alive)
	}
	if err == nil {
		err = g.repairAll(ctx, fresh)
	}
	if err != nil {
		_ = fresh.close() // the error that counts is the one before
		return err
	}
	old := g.nodes.Swap(fresh)
	g.vectors.Exclusive(func() { err = old.close() })
	return err
}

// unlink takes the dead slots out of the graph and frees them; leaders of which nothing is alive go, the others stay.
func (g *Graph) unlink(ctx context.Context, n *nodes, leaving, all []uint32) error {
	var gone bits
	for _, slot := range leaving {
		gone.add(slot)
	}
	stay := n.leaders(func(slot uint32) bool { return !gone.has(slot) })
	g.parallel(len(stay), func(w *worker, i int) {
		for layer := 0; layer <= n.of(stay[i]).level() && ctx.Err() == nil; layer++ {
			w.bypass(n, stay[i], layer, &gone)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	n.moveTop(stay, &gone)
	if err := g.repairAll(ctx, n); err != nil {
		return err
	}
	if err := n.succeed(stay); err != nil {
		return err
	}
	g.vectors.Exclusive(func() {}) // searches that may still be at a dead node end
	for _, slot := range all {
		n.release(slot)
	}
	return nil
}

// bypass replaces the links of a list to nodes that are gone. It reads no lists but those of nodes gone, which nobody
// changes, so that the order does not matter in which nodes are done.
func (w *worker) bypass(n *nodes, slot uint32, layer int, gone *bits) {
	w.slots = n.neighbours(slot, layer, w.slots[:0])
	if !slices.ContainsFunc(w.slots, gone.has) {
		return
	}
	w.seen.clear()
	w.seen.add(slot)
	var near, behind []uint32
	for _, next := range w.slots {
		if !gone.has(next) {
			if w.seen.add(next) {
				near = append(near, next)
			}
			continue
		}
		behind = n.neighbours(next, layer, behind[:0])
		for _, further := range behind {
			if !gone.has(further) && w.seen.add(further) {
				near = append(near, further)
			}
		}
	}
	w.slots = append(w.slots[:0], near...)
	w.vectors.PrepareSlot(slot, &w.query)
	w.list = w.list[:0]
	for i, score := range w.score(&w.query) {
		w.list = append(w.list, pack(score, near[i]))
	}
	slices.SortFunc(w.list, func(a, b key) int { return cmp.Compare(b, a) })
	n.setLinks(slot, layer, w.choose(w.list, n.width(layer)))
}

// moveTop lets searches start at a node that stays: one on the highest layer, if possible with links.
func (n *nodes) moveTop(stay []uint32, gone *bits) {
	if slot, _, ok := n.top(); !ok || !gone.has(slot) {
		return
	}
	best := slices.MaxFunc(stay, func(a, b uint32) int {
		linked := func(slot uint32) uint32 { return min(1, n.links(slot, 0)[0].Load()) }
		return cmp.Or(cmp.Compare(linked(a), linked(b)), cmp.Compare(n.of(a).level(), n.of(b).level()), cmp.Compare(b, a))
	})
	n.setTop(best, n.of(best).level())
}

// succeed takes the dead out of the chains, and lets the first that is alive take the place of a dead leader.
func (n *nodes) succeed(stay []uint32) error {
	heirs := map[uint32]uint32{}
	for _, slot := range stay {
		last := n.of(slot) // of those that stay in the chain
		for next := last.next.Load(); next != 0; next = n.of(next - 1).next.Load() {
			if n.of(next - 1).alive() {
				last.next.Store(next)
				last = n.of(next - 1)
			}
		}
		last.next.Store(0)
		if head := n.of(slot); !head.alive() {
			heir := head.next.Load() - 1
			if err := n.inherit(heir, slot); err != nil {
				return err
			}
			heirs[slot] = heir
		}
	}
	if len(heirs) == 0 {
		return nil
	}
	for _, slot := range n.leaders(func(uint32) bool { return true }) {
		for layer := range n.of(slot).level() + 1 {
			list := n.links(slot, layer)
			for i := range list {
				if heir, ok := heirs[list[i].Load()-1]; ok {
					list[i].Store(heir + 1)
				}
			}
		}
	}
	slot, level, _ := n.top()
	if heir, ok := heirs[slot]; ok {
		n.setTop(heir, level)
	}
	return nil
}

// inherit makes a follower a leader with the links of another one. What is behind it in the chain stays there; the old
// leader still leads to it, for those who are on their way.
func (n *nodes) inherit(heir, from uint32) error {
	level := n.of(from).level()
	if level > 0 {
		first, err := n.takeBlocks(level)
		if err != nil {
			return err
		}
		n.of(heir).upper = first
	}
	for layer := range level + 1 {
		old, list := n.links(from, layer), n.links(heir, layer)
		for i := range list {
			list[i].Store(old[i].Load())
		}
	}
	n.of(heir).state.Store(used | uint32(level)<<levelShift)
	n.count++
	return nil
}
