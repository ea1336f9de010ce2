package hnsw

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// maxBatch is how many nodes are linked at a time. More keep more workers busy, and cost each a comparison with all
// others of the batch.
const maxBatch = 256

// Add inserts free slots, whose vectors are set, all or none: after an error, as of the context, those that were linked
// already are dead. More slots at once are faster.
func (g *Graph) Add(ctx context.Context, slots []uint32) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return ErrClosed
	}
	if err := g.reserve(n, slots); err != nil {
		return err
	}
	added, err := g.insert(ctx, n, slots)
	g.live.Add(int64(added))
	if err != nil {
		g.remove(n, slots[:added])
		return err
	}
	g.prove(ctx, n)
	return nil
}

// reserve makes room for slots, all different and free.
func (g *Graph) reserve(n *nodes, slots []uint32) error {
	if len(slots) == 0 {
		return nil
	}
	highest := slices.Max(slots)
	if int64(highest) >= int64(g.vectors.Len()) {
		return fmt.Errorf("slot %d has no vector", highest)
	}
	if err := n.grow(int(highest) + 1); err != nil {
		return err
	}
	var seen bits
	for _, slot := range slots {
		if n.of(slot).state.Load() != 0 || !seen.add(slot) {
			return fmt.Errorf("slot %d is added twice", slot)
		}
	}
	return nil
}

// insert links slots in batches, each against the graph as it was before: so the result is the same for any number of
// workers. Batches double, so that nearly all nodes find most of those before them in the graph (cf. M. Manohar et al.,
// "ParlayANN: scalable and deterministic parallel graph-based approximate nearest neighbor search algorithms", PPoPP
// 2024, section 3). It returns how many slots were linked.
func (g *Graph) insert(ctx context.Context, n *nodes, slots []uint32) (added int, err error) {
	for added < len(slots) {
		size := min(len(slots)-added, max(1, n.count), maxBatch)
		if err := g.insertBatch(ctx, n, slots[added:added+size]); err != nil {
			return added, err
		}
		added += size
	}
	return added, nil
}

// insertion is a slot on its way into the graph.
type insertion struct {
	slot   uint32
	level  int
	leader uint32  // slot+1 of the node with an equal vector, or 0
	found  [][]key // candidates in the graph by layer, best first
	links  [][]key // by layer
}

func (g *Graph) insertBatch(ctx context.Context, n *nodes, slots []uint32) error {
	batch := make([]insertion, len(slots))
	first := map[uint64]int{} // by hash of the vector
	for i, slot := range slots {
		batch[i] = insertion{slot: slot, level: levelOf(slot, g.config.Seed, g.config.M)}
		hash := g.vectors.Hash(slot)
		if twin, ok := first[hash]; !ok {
			first[hash] = i
		} else if g.vectors.Equal(slots[twin], slot) {
			batch[i].leader = slots[twin] + 1
		}
	}
	g.parallel(len(batch), func(w *worker, i int) {
		if batch[i].leader == 0 {
			w.candidates(ctx, n, &batch[i], g.config.EfConstruction)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	g.parallel(len(batch), func(w *worker, i int) {
		if batch[i].leader == 0 {
			w.plan(batch, i, g.config.EfConstruction, g.config.M)
		}
	})
	return g.link(n, batch)
}

// equalTop is how many of the best candidates are compared with a new vector: rounding can put few before an equal one.
const equalTop = 4

// candidates searches the graph for those near to a new node on each of its layers (Algorithm 1, first part), or for
// one with an equal vector.
func (w *worker) candidates(ctx context.Context, n *nodes, p *insertion, ef int) {
	p.found = make([][]key, p.level+1)
	slot, top, ok := n.top()
	if !ok {
		return
	}
	w.vectors.PrepareSlot(p.slot, &w.query)
	at := w.descend(n, &w.query, w.keyOf(&w.query, slot), top, p.level)
	w.starts = append(w.starts[:0], at)
	for layer := min(p.level, top); layer >= 0; layer-- {
		if w.beam(ctx, n, &w.query, layer, ef, nil) != nil {
			return // the batch is given up
		}
		p.found[layer] = slices.Clone(w.found)
		w.starts = append(w.starts[:0], w.found...)
	}
	for _, k := range p.found[0][:min(equalTop, len(p.found[0]))] {
		if w.vectors.Equal(k.slot(), p.slot) {
			p.leader = k.slot() + 1
			return
		}
	}
}

// plan chooses the links of a new node on each layer, among its candidates and the others of its batch.
func (w *worker) plan(batch []insertion, i, ef, m int) {
	p := &batch[i]
	p.links = make([][]key, p.level+1)
	w.vectors.PrepareSlot(p.slot, &w.query)
	w.slots = w.slots[:0]
	for j := range batch {
		w.slots = append(w.slots, batch[j].slot)
	}
	w.list = w.list[:0]
	for j, score := range w.score(&w.query) {
		w.list = append(w.list, pack(score, batch[j].slot))
	}
	for layer := range p.links {
		w.found = append(w.found[:0], p.found[layer]...)
		for j := range batch {
			if j != i && batch[j].leader == 0 && batch[j].level >= layer {
				w.offer(w.list[j], ef)
			}
		}
		p.links[layer] = slices.Clone(w.choose(w.found, m))
	}
}

// link puts a batch into the graph: the nodes with their own links first, then, layer by layer, the links back to them.
func (g *Graph) link(n *nodes, batch []insertion) error {
	if err := claimAll(n, batch); err != nil {
		return err
	}
	var back []backLink
	for i := range batch {
		p := &batch[i]
		if p.leader != 0 {
			n.follow(p.slot, leaderOf(n, batch, p.leader-1))
			continue
		}
		for layer, links := range p.links {
			n.setLinks(p.slot, layer, links)
			for _, k := range links {
				back = append(back, backLink{layer, k.slot(), pack(k.score(), p.slot)})
			}
		}
	}
	g.linkBack(n, back)
	for i := range batch {
		p := &batch[i]
		if _, level, ok := n.top(); p.leader == 0 && (!ok || p.level > level) {
			n.setTop(p.slot, p.level)
		}
	}
	for i := range batch {
		g.unproved = append(g.unproved, batch[i].slot)
	}
	g.added += len(batch)
	return nil
}

// claimAll makes those of a batch leaders that are to be, all or none.
func claimAll(n *nodes, batch []insertion) error {
	for i := range batch {
		if batch[i].leader != 0 {
			continue
		}
		if err := n.claim(batch[i].slot, batch[i].level); err != nil {
			for j := range i {
				n.release(batch[j].slot)
			}
			return err
		}
	}
	return nil
}

// leaderOf returns the leader that a slot stands for: a slot of the batch may have found one in the graph.
func leaderOf(n *nodes, batch []insertion, slot uint32) uint32 {
	if n.of(slot).leader() {
		return slot
	}
	for i := range batch {
		if batch[i].slot == slot {
			return batch[i].leader - 1
		}
	}
	return slot
}

// backLink is a link to add: from target, on a layer, to the slot of the key, which has the score of the two.
type backLink struct {
	layer  int
	target uint32
	to     key
}

// linkBack adds links, and chooses anew where a list is full. The targets are independent of each other.
func (g *Graph) linkBack(n *nodes, back []backLink) {
	slices.SortFunc(back, func(a, b backLink) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.target, b.target), cmp.Compare(b.to, a.to))
	})
	var groups [][]backLink
	for from := 0; from < len(back); {
		to := from + 1
		for to < len(back) && back[to].layer == back[from].layer && back[to].target == back[from].target {
			to++
		}
		groups = append(groups, back[from:to])
		from = to
	}
	g.parallel(len(groups), func(w *worker, i int) { w.linkTarget(n, groups[i]) })
}

// linkTarget adds links to the list of one target.
func (w *worker) linkTarget(n *nodes, add []backLink) {
	target, layer := add[0].target, add[0].layer
	w.slots = n.neighbours(target, layer, w.slots[:0])
	have := len(w.slots)
	w.list = w.list[:0]
	for _, b := range add {
		if !slices.Contains(w.slots[:have], b.to.slot()) {
			w.list = append(w.list, b.to)
		}
	}
	if width := n.width(layer); have+len(w.list) <= width {
		list := n.links(target, layer)
		for i, k := range w.list {
			list[have+i].Store(k.slot() + 1)
		}
		return
	}
	w.vectors.PrepareSlot(target, &w.query)
	for i, score := range w.score(&w.query) {
		w.list = append(w.list, pack(score, w.slots[i]))
	}
	slices.SortFunc(w.list, func(a, b key) int { return cmp.Compare(b, a) })
	n.setLinks(target, layer, w.choose(w.list, n.width(layer)))
}
