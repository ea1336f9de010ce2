package bm25

import (
	"cmp"
	"slices"
	"strings"
)

// scored is a document with the sum of its shares.
type scored struct {
	sum int64
	seg *Segment
	doc uint32
}

// ranksBefore orders by sum, and by ID where sums are equal; IDs are read only then.
func (s *scored) ranksBefore(other *scored) bool {
	return s.sum > other.sum || s.sum == other.sum && s.seg.id(s.doc) < other.seg.id(other.doc)
}

// topK keeps the k best documents it is given. The one that ranks last is on top of a heap.
type topK struct {
	k    int
	heap []scored
}

// reset empties the collector for k documents.
func (t *topK) reset(k int) { t.k, t.heap = k, t.heap[:0] }

// least is the sum that a document needs to have a chance; one that has no more than that needs a lower ID too.
func (t *topK) least() int64 {
	if len(t.heap) < t.k {
		return 0
	}
	return t.heap[0].sum
}

// add keeps a document if it is among the best.
func (t *topK) add(s scored) {
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
	case s.ranksBefore(&t.heap[0]):
		t.heap[0] = s
		t.down()
	}
}

// up moves the document at i to its place towards the top.
func (t *topK) up(i int) {
	for i > 0 {
		above := (i - 1) / 2
		if !t.heap[above].ranksBefore(&t.heap[i]) {
			return
		}
		t.heap[above], t.heap[i] = t.heap[i], t.heap[above]
		i = above
	}
}

// down moves the document on top to its place.
func (t *topK) down() {
	for i := 0; ; {
		last := 2*i + 1 // the one below that ranks last
		if last >= len(t.heap) {
			return
		}
		if right := last + 1; right < len(t.heap) && t.heap[last].ranksBefore(&t.heap[right]) {
			last = right
		}
		if !t.heap[i].ranksBefore(&t.heap[last]) {
			return
		}
		t.heap[i], t.heap[last] = t.heap[last], t.heap[i]
		i = last
	}
}

// sorted returns the documents with their scores, best first. Until the next reset the collector must not be used.
func (t *topK) sorted(scale float64) []Match {
	slices.SortFunc(t.heap, func(a, b scored) int {
		if a.sum != b.sum {
			return cmp.Compare(b.sum, a.sum)
		}
		return strings.Compare(a.seg.id(a.doc), b.seg.id(b.doc))
	})
	matches := make([]Match, len(t.heap))
	for i, s := range t.heap {
		matches[i] = Match{s.seg.id(s.doc), float64(s.sum) / scale}
	}
	return matches
}
