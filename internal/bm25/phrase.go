package bm25

import (
	"slices"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// Phrase is what must stand word by word in a document: at each place one of several terms. A place without terms
// (a stop word) is passed over.
type Phrase [][]string

// withPhrases returns the documents that have all of the phrases, rising.
func (s *Segment) withPhrases(phrases []Phrase) []uint32 {
	docs := s.withPhrase(phrases[0])
	for _, p := range phrases[1:] {
		other := s.withPhrase(p)
		docs = slices.DeleteFunc(docs, func(doc uint32) bool {
			_, has := slices.BinarySearch(other, doc)
			return !has
		})
	}
	return docs
}

// withPhrase returns the documents that have the phrase, rising; all of them if it has no terms.
func (s *Segment) withPhrase(phrase Phrase) []uint32 {
	var places [][]int // numbers of the terms at each place
	for _, terms := range phrase {
		var numbers []int
		for _, t := range terms {
			if i, ok := s.find(t); ok {
				numbers = append(numbers, i)
			}
		}
		if len(terms) > 0 && len(numbers) == 0 {
			return nil
		}
		places = append(places, numbers)
	}
	w := newWords(s, places)
	for at, numbers := range places {
		w.read(at, numbers)
	}
	return slices.DeleteFunc(slices.Collect(w.all.All()), func(doc uint32) bool { return !w.inOrder(doc) })
}

// words is where the words of a phrase stand in the documents that have them all.
type words struct {
	seg   *Segment
	all   bitset.Set            // the documents
	found []map[uint32][]uint32 // at each place of the phrase, by document: the positions; nil where no word is asked for
	block block
}

// newWords finds the documents by their postings, which cost less than positions.
func newWords(s *Segment, places [][]int) *words {
	w := &words{seg: s, all: bitset.New(s.docs), found: make([]map[uint32][]uint32, len(places))}
	w.all.Complement(s.docs)
	for _, numbers := range places {
		if len(numbers) == 0 {
			continue
		}
		one := bitset.New(s.docs)
		for _, n := range numbers {
			list := s.postings(n)
			list.each(&w.block, func(p posting) { one.Add(p.doc) })
		}
		w.all.And(one)
	}
	return w
}

// read takes the positions of the terms at one place of the phrase.
func (w *words) read(at int, numbers []int) {
	detail := w.seg.Detail()
	if len(numbers) == 0 || detail == nil {
		return
	}
	found := map[uint32][]uint32{}
	for _, n := range numbers {
		list, positions := w.seg.postings(n), detail.positions(n)
		list.each(&w.block, func(p posting) {
			if s := positions.next(); w.all.Has(p.doc) {
				found[p.doc] = appendPlaces(found[p.doc], s)
			}
		})
	}
	w.found[at] = found
}

// inOrder reports whether the words of the phrase stand one after the other in the document.
func (w *words) inOrder(doc uint32) bool {
	var starts []uint32 // where the phrase may begin, plus the place at hand
	first := true
	for at, found := range w.found {
		if found == nil {
			continue
		}
		here := found[doc]
		slices.Sort(here)
		if first {
			starts, first = slices.Clone(here), false
			for i := range starts {
				starts[i] -= uint32(at)
			}
			continue
		}
		starts = slices.DeleteFunc(starts, func(start uint32) bool {
			_, stands := slices.BinarySearch(here, start+uint32(at))
			return !stands
		})
	}
	return first || len(starts) > 0
}
