package bm25

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// Query is what a search looks for.
type Query struct {
	K       int                       // at most K matches
	Clauses []Clause                  // what documents are ranked by
	Phrases []Phrase                  // what each match must have
	Allow   func(*Segment) bitset.Set // the documents of a segment that may match; nil: all may
	Params  Params
}

// Clause is a term, or several that count as one: their occurrences are added up before the score saturates, and the
// documents that have any of them are counted for its rarity.
type Clause struct {
	Terms  []string
	Weight float64 // how often the clause counts, above 0
}

// Words makes a clause of each term, in the order of first use. A term that is there twice counts twice.
func Words(terms []string) []Clause {
	place := make(map[string]int, len(terms))
	var clauses []Clause
	for _, t := range terms {
		i, seen := place[t]
		if !seen {
			i = len(clauses)
			place[t] = i
			clauses = append(clauses, Clause{Terms: []string{t}})
		}
		clauses[i].Weight++
	}
	return clauses
}

// Match is a document with its score.
type Match struct {
	ID    string
	Score float64
}

// Search returns the K best of the allowed documents that have a term of one of the clauses and all of the phrases,
// best first, ties by ID. The score is the sum over the clauses of
//
//	weight * ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + K1 * (1 - B + B * length / average length))
//
// with N and df of the documents that live in the index. Phrases need the details of all segments. The error is the
// context's.
func (x *Index) Search(ctx context.Context, q Query) ([]Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x.Len() == 0 || q.K <= 0 || len(q.Clauses) == 0 {
		return nil, nil
	}
	s := searches.Get().(*search)
	defer searches.Put(s)
	s.index, s.query, s.norms = x, q, x.normsFor(q.Params)
	s.top.reset(q.K)
	s.find()
	s.weigh()
	for i := range s.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.searchPart(i)
	}
	return s.top.sorted(s.scale), nil
}

// search is the memory of a search.
type search struct {
	index *Index
	query Query
	norms *norms
	top   topK
	scale float64 // unit, or less if the sums would not fit

	allowed bitset.Set // documents of the part at hand; nil: all
	parts   []*Part    // largest first: their best keep most of the others out
	lists   []postings // of each clause in each part: len(parts) × len(clauses)
	weights []float64  // of the clauses, in units; 0: no document has it
	cursors []*cursor  // one for each clause at most
	active  []*cursor  // those with documents in the window at hand, by rising bound
	sums    []int64    // of the bounds of the active ones, up to each
	window  window
	block   block
}

var searches = sync.Pool{New: func() any { return new(search) }}

// find looks the clauses up in every part.
func (s *search) find() {
	s.parts = append(s.parts[:0], s.index.parts...)
	slices.SortStableFunc(s.parts, func(a, b *Part) int { return cmp.Compare(b.live, a.live) })
	s.lists = s.lists[:0]
	for _, p := range s.parts {
		for _, c := range s.query.Clauses {
			s.lists = append(s.lists, p.seg.union(c.Terms, &s.block))
		}
	}
}

// weigh computes the weights of the clauses, from the statistics of the documents that live.
func (s *search) weigh() {
	s.weights = s.weights[:0]
	total := 0.0
	for c, clause := range s.query.Clauses {
		df := 0
		for i, p := range s.parts {
			df += p.liveCount(s.lists[i*len(s.query.Clauses)+c], &s.block)
		}
		weight := 0.0
		if df > 0 {
			weight = clause.Weight * Rarity(s.index.live, df)
		}
		s.weights = append(s.weights, weight)
		total += weight
	}
	s.scale = unit
	for total*s.scale > maxSum {
		s.scale /= 2
	}
	for c := range s.weights {
		s.weights[c] *= s.scale
	}
}

// searchPart ranks the documents of one part.
func (s *search) searchPart(i int) {
	p, n := s.parts[i], 0
	for c, list := range s.lists[i*len(s.weights) : (i+1)*len(s.weights)] {
		if s.weights[c] == 0 || list.blocks == 0 {
			continue
		}
		if n == len(s.cursors) {
			s.cursors = append(s.cursors, new(cursor))
		}
		s.cursors[n].reset(list, s.weights[c])
		n++
	}
	cursors := s.cursors[:n]
	if n == 0 {
		return
	}
	if s.allowed = nil; s.query.Allow != nil {
		s.allowed = s.query.Allow(p.seg)
	}
	switch {
	case len(s.query.Phrases) > 0:
		s.scoreEach(p, cursors, p.seg.withPhrases(s.query.Phrases))
		return
	case s.allowed != nil && s.allowed.Count() < p.seg.docs/fewDocs:
		s.scoreEach(p, cursors, slices.Collect(s.allowed.All()))
		return
	}
	for begin := 0; begin < p.seg.docs; begin += windowSize {
		s.scoreWindow(p, cursors, uint32(begin), uint32(min(begin+windowSize, p.seg.docs)))
	}
}

// fewDocs is the part of a segment's documents below which they are scored one by one: looking one up in each list
// costs about as much as adding up sixteen.
const fewDocs = 16

// scoreEach ranks the documents given, which rise.
func (s *search) scoreEach(p *Part, cursors []*cursor, docs []uint32) {
	for _, doc := range docs {
		norm, sum, found := s.norms.of(p.seg.lengths[doc]), int64(0), false
		for _, c := range cursors {
			if at, ok := c.seek(doc); ok && at == doc {
				sum += c.shareOf(norm)
				found = true
			}
		}
		if found {
			s.offer(p, doc, sum)
		}
	}
}

// offer puts a document among the best if it may match and belongs there.
func (s *search) offer(p *Part, doc uint32, sum int64) {
	if sum < s.top.least() || p.dead.Has(doc) || s.allowed != nil && !s.allowed.Has(doc) {
		return
	}
	s.top.add(scored{sum, p.seg, doc})
}

// union returns the postings of the terms together.
func (s *Segment) union(terms []string, b *block) postings {
	if len(terms) == 1 {
		if i, ok := s.find(terms[0]); ok {
			return s.postings(i)
		}
		return postings{}
	}
	tfs := make([]uint32, s.docs)
	found := 0
	for _, t := range terms {
		if i, ok := s.find(t); ok {
			list := s.postings(i)
			list.each(b, func(p posting) {
				if tfs[p.doc] == 0 {
					found++
				}
				tfs[p.doc] += p.tf
			})
		}
	}
	joined := make([]posting, 0, found)
	for doc, tf := range tfs {
		if tf > 0 {
			joined = append(joined, posting{uint32(doc), tf})
		}
	}
	data := append(appendPostings(nil, joined, s.lengths), make([]byte, padding)...)
	return openPostings(string(data), s.docs)
}
