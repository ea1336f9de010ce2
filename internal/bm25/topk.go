package bm25

import (
	"cmp"
	"container/heap"
	"slices"
)

// topK keeps the k best matches it is given.
type topK struct {
	k    int
	heap matchHeap
}

// mayEnter reports whether a match of this score can be among the best; enters knows for sure.
func (t *topK) mayEnter(score float64) bool { return len(t.heap) < t.k || score >= t.heap[0].Score }

func (t *topK) enters(m Match) bool { return len(t.heap) < t.k || compare(m, t.heap[0]) < 0 }

func (t *topK) add(m Match) {
	if len(t.heap) < t.k {
		heap.Push(&t.heap, m)
		return
	}
	t.heap[0] = m
	heap.Fix(&t.heap, 0)
}

// sorted returns the matches, best first. The collector must not be used again.
func (t *topK) sorted() []Match {
	matches := []Match(t.heap)
	slices.SortFunc(matches, compare)
	return matches
}

// compare is negative if a ranks before b.
func compare(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// matchHeap has the match that ranks last on top.
type matchHeap []Match

func (h *matchHeap) Len() int           { return len(*h) }
func (h *matchHeap) Less(i, j int) bool { return compare((*h)[i], (*h)[j]) > 0 }
func (h *matchHeap) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *matchHeap) Push(x any)         { *h = append(*h, x.(Match)) }
func (h *matchHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
