package vectorstore

import (
	"context"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// workerSlots is the number of vectors that is worth a goroutine of its own: some tenths of a millisecond of work.
const workerSlots = 8192

// scanSlots is the number of vectors that are scored at a time.
const scanSlots = 256

// scan compares a query with all allowed slots and returns the best k, in no order, and all others that are as good as the
// last of them: the caller breaks ties.
func scan(ctx context.Context, vectors *slab.Slab, q *slab.Query, k int, allowed bitset.Set, workers int) ([]candidate, error) {
	workers = max(1, min(workers, len(allowed)*bitset.WordBits/workerSlots))
	share := (len(allowed) + workers - 1) / workers
	tops := make([]topK, workers)
	var wg sync.WaitGroup
	for i := range tops {
		tops[i].k = k
		first, end := min(i*share, len(allowed)), min((i+1)*share, len(allowed))
		if i == workers-1 { // this goroutine works as well
			scanWords(ctx, vectors, q, allowed, first, end, &tops[i])
			break
		}
		wg.Go(func() { scanWords(ctx, vectors, q, allowed, first, end, &tops[i]) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := tops[0]
	for _, t := range tops[1:] {
		for _, c := range slices.Concat(t.heap, t.ties) {
			all.offer(c)
		}
	}
	return append(all.heap, all.ties...), nil
}

// scanWords scores the slots of some words of the set; it stops early when the context ends.
func scanWords(ctx context.Context, vectors *slab.Slab, q *slab.Query, allowed bitset.Set, first, end int, top *topK) {
	own := *q // which holds memory to compare with, for one goroutine
	slots := make([]uint32, 0, scanSlots)
	var scores [scanSlots]float32
	flush := func() {
		vectors.Scores(&own, slots, scores[:])
		for i, slot := range slots {
			top.offer(candidate{slot: slot, score: scores[i]})
		}
		slots = slots[:0]
	}
	for slot := range allowed[first:end].All() {
		if slots = append(slots, slot+uint32(first*bitset.WordBits)); len(slots) == scanSlots {
			if flush(); ctx.Err() != nil {
				return
			}
		}
	}
	flush()
}

// topK keeps the k best candidates in a heap with the worst on top, and beside it those that are as good as the worst.
type topK struct {
	k    int
	heap []candidate
	ties []candidate
}

func (t *topK) offer(c candidate) {
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, c)
		t.up(len(t.heap) - 1)
	case c.score > t.heap[0].score:
		out := t.heap[0]
		t.heap[0] = c
		t.down()
		if t.heap[0].score > out.score {
			t.ties = t.ties[:0]
		} else {
			t.ties = append(t.ties, out)
		}
	case c.score == t.heap[0].score:
		t.ties = append(t.ties, c)
	}
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.heap[i].score >= t.heap[parent].score {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *topK) down() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.heap[child].score < t.heap[worst].score {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}
