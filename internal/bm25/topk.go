package bm25

import (
	"cmp"
	"container/heap"
	"slices"
)

// scored is a document with the sum of its shares.
type scored struct {
	id  string
	sum int64
}

// topK keeps the k best documents it is given.
type topK struct {
	k    int
	heap scoredHeap
}

// least is the sum that a document needs to have a chance; one that has no more than that needs a lower ID too.
func (t *topK) least() int64 {
	if len(t.heap) < t.k {
		return 0
	}
	return t.heap[0].sum
}

func (t *topK) enters(s scored) bool { return len(t.heap) < t.k || compare(s, t.heap[0]) < 0 }

func (t *topK) add(s scored) {
	if len(t.heap) < t.k {
		heap.Push(&t.heap, s)
		return
	}
	t.heap[0] = s
	heap.Fix(&t.heap, 0)
}

// sorted returns the documents with their scores, best first. The collector must not be used again.
func (t *topK) sorted(scale float64) []Match {
	slices.SortFunc(t.heap, compare)
	matches := make([]Match, len(t.heap))
	for i, s := range t.heap {
		matches[i] = Match{s.id, float64(s.sum) / scale}
	}
	return matches
}

// compare is negative if a ranks before b.
func compare(a, b scored) int {
	if a.sum != b.sum {
		return cmp.Compare(b.sum, a.sum)
	}
	return cmp.Compare(a.id, b.id)
}

// scoredHeap has the document that ranks last on top.
type scoredHeap []scored

func (h *scoredHeap) Len() int           { return len(*h) }
func (h *scoredHeap) Less(i, j int) bool { return compare((*h)[i], (*h)[j]) > 0 }
func (h *scoredHeap) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *scoredHeap) Push(x any)         { *h = append(*h, x.(scored)) }
func (h *scoredHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
