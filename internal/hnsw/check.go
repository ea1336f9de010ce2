package hnsw

import (
	"fmt"
	"slices"
)

// Report is what Check found.
type Report struct {
	Live, Dead  int      // slots
	Unreachable []uint32 // live slots that no search can find, in order
	Broken      []string // links that lead nowhere, and other contradictions; at most 10
}

// maxBroken bounds a report.
const maxBroken = 10

// OK reports whether nothing is wrong.
func (r Report) OK() bool { return len(r.Unreachable) == 0 && len(r.Broken) == 0 }

// Check looks at every node and link. Changes wait meanwhile. Of many slots that were added a few at a time, some may
// be unreachable until Add next looks itself; Repair makes it look.
func (g *Graph) Check() Report {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return Report{}
	}
	return n.check()
}

func (n *nodes) check() Report {
	r := n.checkLinks()
	if len(r.Broken) > 0 {
		return r
	}
	var reached bits
	if slot, _, ok := n.top(); ok {
		(&worker{}).reach(n, slot, &reached)
	}
	for _, slot := range n.leaders(func(slot uint32) bool { return !reached.has(slot) }) {
		r.Unreachable = n.aliveIn(slot, r.Unreachable)
	}
	slices.Sort(r.Unreachable)
	return r
}

// checkLinks reports all but what is unreachable.
func (n *nodes) checkLinks() (r Report) {
	var chained bits
	var followers []uint32
	for slot := range uint32(n.size.Load()) {
		node := n.of(slot)
		switch {
		case node.state.Load() == 0:
			continue
		case node.alive():
			r.Live++
		default:
			r.Dead++
		}
		if !node.leader() {
			followers = append(followers, slot)
			continue
		}
		for layer := range node.level() + 1 {
			n.checkList(slot, layer, &r)
		}
		n.checkChain(slot, &chained, &r)
	}
	for _, slot := range followers {
		if !chained.has(slot) {
			broken(&r, "slot %d follows no leader", slot)
		}
	}
	slot, level, ok := n.top()
	if ok && (int64(slot) >= n.size.Load() || !n.of(slot).leader() || n.of(slot).level() != level) {
		broken(&r, "searches start at slot %d on layer %d, which is not there", slot, level)
	}
	if !ok && r.Live > 0 {
		broken(&r, "searches start nowhere")
	}
	return r
}

// broken adds to what is broken.
func broken(r *Report, format string, args ...any) {
	if len(r.Broken) < maxBroken {
		r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
	}
}

// checkList looks at the links of a leader on one layer.
func (n *nodes) checkList(slot uint32, layer int, r *Report) {
	ended := false
	list := n.links(slot, layer)
	for i := range list {
		link := list[i].Load()
		switch {
		case link == 0:
			ended = true
		case ended:
			broken(r, "slot %d, layer %d: a link behind the end", slot, layer)
		case int64(link-1) >= n.size.Load() || !n.of(link-1).leader() || n.of(link-1).level() < layer:
			broken(r, "slot %d, layer %d: a link to slot %d, which is not there", slot, layer, link-1)
		case link-1 == slot:
			broken(r, "slot %d, layer %d: a link to itself", slot, layer)
		}
	}
}

// checkChain looks at those behind a leader, and adds them to a set.
func (n *nodes) checkChain(leader uint32, chained *bits, r *Report) {
	for next := n.of(leader).next.Load(); next != 0; next = n.of(next - 1).next.Load() {
		if int64(next-1) >= n.size.Load() || n.of(next-1).state.Load() == 0 || n.of(next-1).leader() || !chained.add(next-1) {
			broken(r, "slot %d leads to slot %d, which is no follower of it", leader, next-1)
			return
		}
	}
}

// aliveIn appends the live slots of a node.
func (n *nodes) aliveIn(leader uint32, out []uint32) []uint32 {
	for slot := leader; ; {
		if n.of(slot).alive() {
			out = append(out, slot)
		}
		next := n.of(slot).next.Load()
		if next == 0 {
			return out
		}
		slot = next - 1
	}
}
