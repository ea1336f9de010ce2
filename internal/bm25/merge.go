package bm25

import (
	"container/heap"
	"math/bits"
	"slices"
)

// Segments are merged eight at a time, so that a document is copied about once for every factor of eight by which
// the index grows, and a search meets at most seven segments of each size class.
const (
	mergeFactor = 8
	classBits   = 3 // log2 of mergeFactor

	// maxMergeInput is the size in bytes from which a segment is left alone: merging eight larger ones would hold an
	// upsert up for seconds.
	maxMergeInput = 8 << 20
)

// sizeClass grows by one with every factor of eight in the number of live documents.
func (p *Part) sizeClass() int { return bits.Len(uint(p.live)) / classBits }

// compact merges parts until no size class has too many and no part is mostly marked documents.
func compact(parts []*Part) ([]*Part, error) {
	for {
		chosen := choose(parts)
		if chosen == nil {
			return parts, nil
		}
		merged, err := merge(chosen)
		if err != nil {
			return nil, err
		}
		kept := slices.DeleteFunc(slices.Clone(parts), func(p *Part) bool { return slices.Contains(chosen, p) })
		parts = append(kept, merged)
	}
}

// choose returns the parts to merge next, or nil.
func choose(parts []*Part) []*Part {
	classes := map[int][]*Part{}
	for _, p := range parts {
		if dead := p.seg.docs - p.live; dead > p.live {
			return []*Part{p}
		}
		if len(p.seg.data) > maxMergeInput {
			continue
		}
		class := p.sizeClass()
		classes[class] = append(classes[class], p)
		if len(classes[class]) == mergeFactor {
			return classes[class]
		}
	}
	return nil
}

// merge makes one part of the live documents of several.
func merge(parts []*Part) (*Part, error) {
	docs, terms := 0, 0
	for _, p := range parts {
		docs += p.live
		terms = max(terms, p.seg.terms)
	}
	w := newWriter(docs, terms)
	cursors := make(cursorHeap, 0, len(parts))
	base := uint64(0)
	for i, p := range parts {
		c := &cursor{part: p, order: i, renumber: make([]uint64, p.seg.docs)}
		for d := range p.seg.docs {
			if !p.isDead(d) {
				c.renumber[d] = base
				base++
				w.doc(p.seg.doc(d))
			}
		}
		if c.advance() {
			cursors = append(cursors, c)
		}
	}
	w.endDocs()
	mergeTerms(w, cursors)
	seg, err := w.finish()
	if err != nil {
		return nil, err
	}
	return newPart(seg), nil
}

// mergeTerms writes the terms of all cursors in order, each once.
func mergeTerms(w *writer, cursors cursorHeap) {
	heap.Init(&cursors)
	for len(cursors) > 0 {
		term, written := cursors[0].term, false
		w.startTerm(term)
		for len(cursors) > 0 && cursors[0].term == term {
			c := cursors[0]
			for doc, count, ok := c.list.read(); ok; doc, count, ok = c.list.read() {
				if doc < uint64(c.part.seg.docs) && !c.part.isDead(int(doc)) {
					w.posting(c.renumber[doc], count)
					written = true
				}
			}
			if c.advance() {
				heap.Fix(&cursors, 0)
			} else {
				heap.Pop(&cursors)
			}
		}
		if !written {
			w.dropTerm()
		}
	}
}

// cursor walks the terms of one part.
type cursor struct {
	part     *Part
	order    int      // place among the merged parts: documents are numbered in it
	renumber []uint64 // new number of each live document
	at       int      // number of the next term
	term     string
	list     postings
}

func (c *cursor) advance() bool {
	if c.at == c.part.seg.terms {
		return false
	}
	c.term, c.list = c.part.seg.term(c.at)
	c.at++
	return true
}

// cursorHeap has the cursor with the lowest term on top; of equals, the one whose documents come first.
type cursorHeap []*cursor

func (h *cursorHeap) Len() int { return len(*h) }
func (h *cursorHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if a.term != b.term {
		return a.term < b.term
	}
	return a.order < b.order
}
func (h *cursorHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *cursorHeap) Push(x any)    { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
