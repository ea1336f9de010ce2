package bm25

import (
	"context"
	"math"
	"sort"
	"sync"
)

// Params are the two free parameters of BM25.
type Params struct {
	K1 float64 // how fast further occurrences of a term stop counting; >= 0
	B  float64 // how much the length of a document counts; 0 to 1
}

// Query is what a search needs beside the terms.
type Query struct {
	K      int                       // at most K matches
	Accept func(payload string) bool // whether a document may match; nil: all may
	Params Params
}

// Match is a document with its score.
type Match struct {
	ID    string
	Score float64
}

// Search returns the K best of the accepted documents that have one of the terms, best first, ties by ID. A term that
// is there twice counts twice. The score is the sum over the terms of
//
//	ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + K1 * (1 - B + B * length / average length))
//
// with N and df of the documents that live in the index. The error is the context's.
func (x *Index) Search(ctx context.Context, terms []string, q Query) ([]Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x.Len() == 0 || q.K <= 0 || len(terms) == 0 {
		return nil, nil
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	s.prepare(x)
	for _, t := range countTerms(terms) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.gather(x, t.term)
		s.score(x, t.count, q.Params)
	}
	return s.best(x, q), nil
}

// queryTerm is a term and how often it was asked for.
type queryTerm struct {
	term  string
	count float64
}

// countTerms keeps the order of first use: the order in which floating-point numbers are summed decides their last
// digit, and equal indexes shall give equal scores.
func countTerms(terms []string) []queryTerm {
	place := make(map[string]int, len(terms))
	var counted []queryTerm
	for _, t := range terms {
		i, seen := place[t]
		if !seen {
			i = len(counted)
			place[t] = i
			counted = append(counted, queryTerm{term: t})
		}
		counted[i].count++
	}
	return counted
}

// occurrence is a live document that has the term at hand.
type occurrence struct {
	slot   uint32 // number of the document in the index: those of the parts before it, and its own in its part
	count  uint32
	length uint32
}

// scratch is the memory of a search. Slots of scores are zero between searches.
type scratch struct {
	bases       []int // first slot of each part
	scores      []float64
	touched     []uint32 // slots with a score
	occurrences []occurrence
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) prepare(x *Index) {
	slots := 0
	s.bases = s.bases[:0]
	for _, p := range x.parts {
		s.bases = append(s.bases, slots)
		slots += p.seg.docs
	}
	if cap(s.scores) < slots {
		s.scores = make([]float64, slots)
	}
	s.scores = s.scores[:cap(s.scores)]
}

func (s *scratch) release() {
	for _, slot := range s.touched {
		s.scores[slot] = 0
	}
	s.touched = s.touched[:0]
	scratches.Put(s)
}

// gather collects the live documents that have the term. Their number is the document frequency.
func (s *scratch) gather(x *Index, term string) {
	s.occurrences = s.occurrences[:0]
	for i, p := range x.parts {
		list := p.seg.find(term)
		base := uint32(s.bases[i])
		for doc, count, ok := list.read(); ok; doc, count, ok = list.read() {
			if doc < uint64(p.seg.docs) && !p.isDead(int(doc)) {
				s.occurrences = append(s.occurrences, occurrence{base + uint32(doc), count, p.seg.lengths[doc]})
			}
		}
	}
}

// score adds the term's share to the documents it was gathered from.
func (s *scratch) score(x *Index, times float64, p Params) {
	n, df := float64(x.live), float64(len(s.occurrences))
	idf := times * math.Log(1+(n-df+0.5)/(df+0.5))
	flat, slope := p.K1*(1-p.B), p.K1*p.B*n/float64(max(x.length, 1))
	for _, o := range s.occurrences {
		if s.scores[o.slot] == 0 { // every share is above 0
			s.touched = append(s.touched, o.slot)
		}
		tf := float64(o.count)
		s.scores[o.slot] += idf * (tf / (tf + flat + slope*float64(o.length)))
	}
}

// best keeps the best of the touched documents. A document is put before Accept, which is slow, only if its score
// would bring it in.
func (s *scratch) best(x *Index, q Query) []Match {
	top := topK{k: q.K}
	for _, slot := range s.touched {
		score := s.scores[slot]
		if !top.mayEnter(score) {
			continue
		}
		part := sort.SearchInts(s.bases, int(slot)+1) - 1
		e := x.parts[part].seg.doc(int(slot) - s.bases[part])
		m := Match{ID: e.id, Score: score}
		if top.enters(m) && (q.Accept == nil || q.Accept(e.payload)) {
			top.add(m)
		}
	}
	return top.sorted()
}
