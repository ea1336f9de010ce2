package hnsw

import (
	"context"

	"github.com/seed-d8745b77/rag/internal/slab"
)

// Request is one search.
type Request struct {
	K     int                    // results; below 1 there are none
	Ef    int                    // width of the search: more is slower and finds more; at least K, 0 means 64
	Allow func(slot uint32) bool // which slots may be results; nil means all. It must not call the slab or the graph
}

// Hit is a result: a slot and its score.
type Hit struct {
	Slot  uint32
	Score float32
}

// Search appends the best K allowed live slots to hits, best first, ties by slot; there are fewer only if fewer are
// allowed. The query is prepared by the graph's slab. Slots that are not allowed still lead the search on its way: it
// takes the longer, the fewer are.
func (g *Graph) Search(ctx context.Context, q *slab.Query, r Request, hits []Hit) ([]Hit, error) {
	if !g.vectors.Pin() {
		return hits, ErrClosed
	}
	defer g.vectors.Unpin()
	n := g.nodes.Load()
	if n == nil {
		return hits, ErrClosed
	}
	slot, level, ok := n.top()
	if !ok || r.K < 1 {
		return hits, ctx.Err()
	}
	if r.Ef == 0 {
		r.Ef = DefaultEf
	}
	w := g.worker()
	defer g.workers.Put(w)
	start := w.descend(n, q, w.keyOf(q, slot), level, 0)
	w.starts = append(w.starts[:0], start)
	if err := w.beam(ctx, n, q, 0, max(r.K, r.Ef), &r); err != nil {
		return hits, err
	}
	for _, k := range w.found[:min(r.K, len(w.found))] {
		hits = append(hits, Hit{k.slot(), k.score()})
	}
	return hits, nil
}

// worker is the memory of one goroutine that walks the graph.
type worker struct {
	vectors  *slab.Slab
	query    slab.Query // for vectors of the graph
	seen     bits
	starts   []key
	frontier heap
	found    []key // best first
	slots    []uint32
	scores   []float32
	list     []key
	chosen   []key
}

// keyOf returns the key of one slot.
func (w *worker) keyOf(q *slab.Query, slot uint32) key {
	w.slots = append(w.slots[:0], slot)
	return pack(w.score(q)[0], slot)
}

// score returns the scores of w.slots.
func (w *worker) score(q *slab.Query) []float32 {
	if len(w.scores) < len(w.slots) {
		w.scores = make([]float32, max(256, 2*len(w.slots)))
	}
	w.vectors.Scores(q, w.slots, w.scores)
	return w.scores[:len(w.slots)]
}

// descend walks from layer from to the one above to, on each to the best node that it finds by always going to the best
// neighbour (Algorithm 5, upper part).
func (w *worker) descend(n *nodes, q *slab.Query, at key, from, to int) key {
	for layer := from; layer > to; layer-- {
		for better := true; better; {
			better = false
			w.slots = n.neighbours(at.slot(), layer, w.slots[:0])
			for i, score := range w.score(q) {
				if k := pack(score, w.slots[i]); k > at {
					at, better = k, true
				}
			}
		}
	}
	return at
}

// ctxSteps is how many nodes a search looks at between two looks at its context: about 50 µs.
const ctxSteps = 64

// beam sets w.found to the best ef nodes of a layer that it finds from w.starts on (Algorithm 2). With a request, they
// are slots that it allows.
func (w *worker) beam(ctx context.Context, n *nodes, q *slab.Query, layer, ef int, r *Request) error {
	w.seen.clear()
	w.frontier, w.found = w.frontier[:0], w.found[:0]
	for _, k := range w.starts {
		w.seen.add(k.slot())
		w.frontier.push(k)
		w.admit(n, k, ef, r)
	}
	for step := 1; len(w.frontier) > 0; step++ {
		if step%ctxSteps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := w.frontier.pop()
		if len(w.found) == ef && at < w.found[ef-1] {
			break
		}
		w.slots = w.slots[:0]
		list := n.links(at.slot(), layer)
		for i := range list {
			link := list[i].Load()
			if link == 0 {
				break
			}
			if w.seen.add(link - 1) {
				w.slots = append(w.slots, link-1)
			}
		}
		for i, score := range w.score(q) {
			k := pack(score, w.slots[i])
			if len(w.found) == ef && k < w.found[ef-1] {
				continue
			}
			w.frontier.push(k)
			w.admit(n, k, ef, r)
		}
	}
	return ctx.Err()
}

// admit offers a node as a result; for a request, those slots of the node that may be one.
func (w *worker) admit(n *nodes, k key, ef int, r *Request) {
	if r == nil {
		w.offer(k, ef)
		return
	}
	for slot := k.slot(); ; {
		node := n.of(slot)
		if node.alive() && (r.Allow == nil || r.Allow(slot)) {
			w.offer(pack(k.score(), slot), ef)
		}
		next := node.next.Load()
		if next == 0 {
			return
		}
		slot = next - 1
	}
}

// offer puts a key into w.found, if it is among the best ef. One that is there stays there once: a slot that becomes a
// leader is met twice for a while.
func (w *worker) offer(k key, ef int) {
	low, high := 0, len(w.found)
	for low < high {
		if mid := (low + high) / 2; w.found[mid] > k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(w.found) && w.found[low] == k || low == ef {
		return
	}
	if len(w.found) < ef {
		w.found = append(w.found, 0)
	}
	copy(w.found[low+1:], w.found[low:])
	w.found[low] = k
}
