package bm25

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// Index is a set of documents. It is immutable, safe for concurrent use, and nil is the empty one.
type Index struct {
	parts     []*Part
	live      int
	length    uint64   // of all live documents
	longest   uint32   // the greatest length there is
	stemmings []string // of the live documents, the most frequent first
	norms     atomic.Pointer[norms]
}

// Part is a segment of an index with the marks of the documents that have left it.
type Part struct {
	// ID names the segment in storage. It is for the storage to set, once, before the index is shared; 0 is new.
	ID uint64

	seg    *Segment
	dead   bitset.Set // documents that have left; nil if none has
	live   int
	length uint64 // of the live documents
	stems  []int  // number of live documents by stemming
}

func newPart(seg *Segment) *Part {
	p := &Part{seg: seg, live: seg.docs, stems: make([]int, len(seg.names))}
	for doc, n := range seg.lengths {
		p.length += uint64(n)
		p.stems[seg.stems[doc]]++
	}
	return p
}

// Segment returns the part's segment.
func (p *Part) Segment() *Segment { return p.seg }

// Dead returns the numbers of the documents that have left, ascending.
func (p *Part) Dead() []uint32 { return slices.Collect(p.dead.All()) }

// liveCount returns how many documents of a list are left.
func (p *Part) liveCount(list postings, b *block) int {
	if p.live == p.seg.docs {
		return list.count
	}
	n := 0
	list.each(b, func(in posting) {
		if !p.dead.Has(in.doc) {
			n++
		}
	})
	return n
}

func (p *Part) kill(doc uint32) {
	p.dead.Add(doc)
	p.live--
	p.length -= uint64(p.seg.lengths[doc])
	p.stems[p.seg.stems[doc]]--
}

// clone returns a copy whose marks can be changed.
func (p *Part) clone() *Part {
	c := *p
	c.dead = bitset.New(p.seg.docs)
	copy(c.dead, p.dead)
	c.stems = slices.Clone(p.stems)
	return &c
}

// OpenPart puts together what storage kept of a part: the number a segment was given, the segment and Dead.
func OpenPart(id uint64, seg *Segment, dead []uint32) (*Part, error) {
	p := newPart(seg)
	p.ID = id
	if len(dead) == 0 {
		return p, nil
	}
	p = p.clone()
	for _, d := range dead {
		if int(d) >= seg.docs || p.dead.Has(d) {
			return nil, fmt.Errorf("mark of document %d: %w", d, ErrDamaged)
		}
		p.kill(d)
	}
	return p, nil
}

// NewIndex puts an index together from parts that came from one index.
func NewIndex(parts []*Part) *Index {
	x := &Index{parts: parts}
	counts := map[string]int{}
	for _, p := range parts {
		x.live += p.live
		x.length += p.length
		x.longest = max(x.longest, p.seg.longest)
		for stem, n := range p.stems {
			if n > 0 {
				counts[p.seg.names[stem]] += n
			}
		}
	}
	x.stemmings = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return x
}

// Parts returns the parts; the slice is the caller's.
func (x *Index) Parts() []*Part {
	if x == nil {
		return nil
	}
	return slices.Clone(x.parts)
}

// With returns an index without the documents of these IDs, absent ones included, and with those of the segment, which
// may be nil. A document of the segment replaces one of the same ID. If nothing changes, x itself is returned. load is
// asked for details that a merge needs; it may be nil if all are in memory. The error is that of [Build] or of load.
func (x *Index) With(remove []string, add *Segment, load LoadDetail) (*Index, error) {
	parts := x.Parts()
	changed := add != nil && add.docs > 0
	if changed {
		remove = slices.Clone(remove)
		for id := range add.ids {
			remove = append(remove, id)
		}
	}
	cloned := make([]bool, len(parts))
	for _, id := range remove {
		for i, p := range parts {
			doc, ok := p.seg.ids[id]
			if !ok || p.dead.Has(doc) {
				continue
			}
			if !cloned[i] {
				parts[i], cloned[i] = p.clone(), true
			}
			parts[i].kill(doc)
			changed = true
			break // a document lives once
		}
	}
	if !changed {
		return x, nil
	}
	parts = slices.DeleteFunc(parts, func(p *Part) bool { return p.live == 0 })
	if add != nil && add.docs > 0 {
		parts = append(parts, newPart(add))
	}
	parts, err := compact(parts, load)
	if err != nil {
		return nil, err
	}
	return NewIndex(parts), nil
}

// Detailed reports whether all segments have their details.
func (x *Index) Detailed() bool {
	for _, p := range x.parts {
		if p.seg.Detail() == nil {
			return false
		}
	}
	return true
}

// Len returns the number of documents.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.live
}

// IDs returns the IDs of all documents, sorted.
func (x *Index) IDs() []string {
	ids := make([]string, 0, x.Len())
	for _, p := range x.Parts() {
		for id, doc := range p.seg.ids {
			if !p.dead.Has(doc) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// Stemmings returns the stemmings of the documents, the most frequent first. The slice is the index's.
func (x *Index) Stemmings() []string {
	if x == nil {
		return nil
	}
	return x.stemmings
}
