package bm25

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
)

// Segments are merged eight at a time, so that a document is copied about once for every factor of eight by which
// the index grows, and a search meets at most seven segments of each size class. Small ones are merged sooner: looking
// every term up in every segment is most of the work of a search among few documents, and five segments took 1.7 times
// as long as one (848 Chinese paragraphs, questions of sixty terms).
const (
	mergeFactor = 8
	classBits   = 3 // log2 of mergeFactor

	// smallPart is the number of documents below which a part is small.
	smallPart = 1 << 11
	// tailFactor is how many times as many documents as all smaller ones together a small part has at least. So small
	// parts are five at most, and 3,000 documents that came one by one were copied twelve times each.
	tailFactor = 4

	// maxMergeInput is the size in bytes from which a segment is left alone: merging eight larger ones would hold an
	// upsert up for seconds.
	maxMergeInput = 8 << 20
)

// sizeClass grows by one with every factor of eight in the number of live documents.
func (p *Part) sizeClass() int { return bits.Len(uint(p.live)) / classBits }

// LoadDetail reads the detail of a part whose segment has none in memory.
type LoadDetail func(*Part) (*Detail, error)

// compact merges parts until no size class has too many and no part is mostly marked documents.
func compact(parts []*Part, load LoadDetail) ([]*Part, error) {
	for {
		chosen := choose(parts)
		if len(chosen) == 0 {
			return parts, nil
		}
		merged, err := merge(chosen, load)
		if err != nil {
			return nil, err
		}
		parts = append(slices.DeleteFunc(slices.Clone(parts), func(p *Part) bool { return slices.Contains(chosen, p) }), merged)
	}
}

// choose returns the parts to merge next, if any.
func choose(parts []*Part) []*Part {
	classes := map[int][]*Part{}
	var small []*Part
	for _, p := range parts {
		if dead := p.seg.docs - p.live; dead > p.live {
			return []*Part{p}
		}
		switch class := p.sizeClass(); {
		case len(p.seg.data) > maxMergeInput:
		case p.live < smallPart:
			small = append(small, p)
		default:
			classes[class] = append(classes[class], p)
			if len(classes[class]) == mergeFactor {
				return classes[class]
			}
		}
	}
	return tail(small)
}

// tail returns the smallest parts, as far as the largest of them is not large enough beside the others; none if each is.
func tail(small []*Part) []*Part {
	slices.SortStableFunc(small, func(a, b *Part) int { return cmp.Compare(a.live, b.live) })
	total, merged := 0, 0
	for i, p := range small {
		if i > 0 && p.live < tailFactor*total {
			merged = i + 1
		}
		total += p.live
	}
	return small[:merged:merged]
}

// merge makes one part of the live documents of several.
func merge(parts []*Part, load LoadDetail) (*Part, error) {
	docs, terms := 0, 0
	for _, p := range parts {
		docs += p.live
		terms = max(terms, p.seg.terms)
	}
	w := newWriter(docs, terms)
	lists := make(mergeHeap, 0, len(parts))
	base := uint32(0)
	for i, p := range parts {
		l := &mergeList{part: p, detail: p.seg.Detail(), order: i, renumber: make([]uint32, p.seg.docs), renamed: make([]int32, p.seg.terms)}
		if l.detail == nil {
			var err error
			if l.detail, err = load(p); err != nil {
				return nil, err
			}
		}
		for d := range p.seg.docs {
			if !p.dead.Has(uint32(d)) {
				l.renumber[d] = base
				base++
				w.doc(p.seg.doc(d))
			}
		}
		if l.advance() {
			lists = append(lists, l)
		}
	}
	w.endDocs()
	all := slices.Clone(lists)
	mergeTerms(w, lists)
	for _, l := range all {
		l.forms(w)
	}
	seg, err := w.finish()
	if err != nil {
		return nil, err
	}
	return newPart(seg), nil
}

// mergeTerms writes the terms of all lists in order, each once.
func mergeTerms(w *writer, lists mergeHeap) {
	heap.Init(&lists)
	var merged []posting
	var b block
	for len(lists) > 0 {
		term, number := lists[0].term, int32(len(w.terms))
		merged = merged[:0]
		w.startTerm(term)
		for len(lists) > 0 && lists[0].term == term {
			l := lists[0]
			before := len(merged)
			merged = l.live(merged, &w.detail, &b)
			if l.renamed[l.at] = number; len(merged) == before {
				l.renamed[l.at] = dropped
			}
			if l.at++; l.advance() {
				heap.Fix(&lists, 0)
			} else {
				heap.Pop(&lists)
			}
		}
		w.postings(merged)
	}
}

// dropped is the number of a term that no live document has.
const dropped = -1

// mergeList walks the terms of one part.
type mergeList struct {
	part     *Part
	detail   *Detail
	order    int      // place among the merged parts: documents are numbered in it
	renumber []uint32 // new number of each live document
	renamed  []int32  // new number of each term
	at       int      // number of the term at hand
	term     string
}

// advance reads the term at hand.
func (l *mergeList) advance() bool {
	if l.at == l.part.seg.terms {
		return false
	}
	l.term = l.part.seg.term(l.at)
	return true
}

// live appends the postings of live documents, and their places to the detail: all in one piece if none has left.
func (l *mergeList) live(merged []posting, w *detailWriter, b *block) []posting {
	list := l.part.seg.postings(l.at)
	places := l.detail.positions(l.at)
	whole := l.part.live == l.part.seg.docs
	if whole {
		w.buf = append(w.buf, places.r.s...)
	}
	for at := range list.blocks {
		list.decode(at, b)
		tfs := b.counts()
		for i, doc := range b.docs[:b.n] {
			if !whole {
				bytes := places.next()
				if l.part.dead.Has(doc) {
					continue
				}
				w.buf = append(w.buf, bytes...)
			}
			merged = append(merged, posting{l.renumber[doc], tfs[i]})
		}
	}
	return merged
}

// forms hands on the forms of terms that are left.
func (l *mergeList) forms(w *writer) {
	for i := range l.detail.forms {
		form, terms := l.detail.form(i)
		l.detail.eachTerm(terms, func(term int) {
			if n := l.renamed[term]; n != dropped {
				w.detail.forms = append(w.detail.forms, formTerm{form, uint32(n)})
			}
		})
	}
}

// mergeHeap has the list with the lowest term on top; of equals, the one whose documents come first.
type mergeHeap []*mergeList

func (h *mergeHeap) Len() int { return len(*h) }
func (h *mergeHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if a.term != b.term {
		return a.term < b.term
	}
	return a.order < b.order
}
func (h *mergeHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *mergeHeap) Push(x any)    { *h = append(*h, x.(*mergeList)) }
func (h *mergeHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
