package bm25

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Build makes a segment of documents. The error says that they are too many for one: more than 4 GiB.
func Build(docs []Doc) (*Segment, error) {
	v := collect(docs)
	w := newWriter(len(docs), len(v.terms))
	for _, d := range docs {
		w.doc(entry{id: d.ID, length: d.Length, stemming: d.Stemming, payload: d.Payload})
	}
	w.endDocs()
	var list []posting
	var places []uint32
	place := make([]uint32, len(v.terms)) // of each term in the segment
	for i, t := range v.sorted() {
		place[t] = uint32(i)
		list = list[:0]
		w.startTerm(v.terms[t])
		tokens := v.byTerm[v.starts[t]:v.starts[t+1]]
		for len(tokens) > 0 {
			p := posting{doc: tokens[0].doc}
			places = places[:0]
			for len(tokens) > 0 && tokens[0].doc == p.doc {
				p.tf += tokens[0].weight
				places = append(places, tokens[0].position)
				tokens = tokens[1:]
			}
			list = append(list, p)
			w.detail.buf = encodePlaces(w.detail.buf, places)
		}
		w.postings(list)
	}
	for f := range v.forms {
		w.detail.forms = append(w.detail.forms, formTerm{f.form, place[f.term]})
	}
	return w.finish()
}

// occurrence is a token of one term.
type occurrence struct{ doc, position, weight uint32 }

// vocabulary is the tokens of documents by term.
type vocabulary struct {
	terms  []string // in the order of first use
	starts []int    // where in byTerm each term's tokens begin; then the end
	byTerm []occurrence
	forms  map[formTerm]struct{} // terms by their place in terms
}

// collect sorts the tokens by term; those of one term stay in order.
func collect(docs []Doc) *vocabulary {
	v := &vocabulary{forms: map[formTerm]struct{}{}}
	numbers := map[string]uint32{}
	var all []uint32 // term of each token
	var counts []int
	for _, d := range docs {
		for _, t := range d.Tokens {
			n, known := numbers[t.Term]
			if !known {
				n = uint32(len(v.terms))
				numbers[t.Term] = n
				v.terms = append(v.terms, t.Term)
				counts = append(counts, 0)
			}
			counts[n]++
			all = append(all, n)
			if t.Form != "" {
				v.forms[formTerm{t.Form, n}] = struct{}{}
			}
		}
	}
	v.starts = make([]int, len(counts)+1)
	for n, c := range counts {
		v.starts[n+1] = v.starts[n] + c
	}
	next := slices.Clone(v.starts)
	v.byTerm = make([]occurrence, len(all))
	for i, d := range docs {
		for _, t := range d.Tokens {
			n := all[0]
			all = all[1:]
			v.byTerm[next[n]] = occurrence{uint32(i), t.Position, t.Weight}
			next[n]++
		}
	}
	return v
}

// sorted returns the places of the terms in the order of the terms.
func (v *vocabulary) sorted() []int {
	order := make([]int, len(v.terms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(v.terms[a], v.terms[b]) })
	return order
}

// writer writes a segment: all documents, then all terms with their postings, in order.
type writer struct {
	buf     []byte   // entries; the tables are put before them at the end
	docs    []int    // where in buf each document begins, and where the last ends
	terms   []int    // the same for terms
	lengths []uint32 // of the documents
	detail  detailWriter
}

func newWriter(docs, terms int) *writer {
	return &writer{docs: make([]int, 0, docs+1), terms: make([]int, 0, terms+1), lengths: make([]uint32, 0, docs)}
}

func (w *writer) doc(e entry) {
	w.docs = append(w.docs, len(w.buf))
	w.lengths = append(w.lengths, e.length)
	w.text(e.id)
	w.buf = binary.AppendUvarint(w.buf, uint64(e.length))
	w.text(e.stemming)
	w.buf = append(w.buf, e.payload...)
}

// endDocs is called between the documents and the terms.
func (w *writer) endDocs() { w.docs = append(w.docs, len(w.buf)) }

// startTerm is followed by the places, which are appended to the detail, and by postings.
func (w *writer) startTerm(term string) {
	w.terms = append(w.terms, len(w.buf))
	w.detail.terms = append(w.detail.terms, len(w.detail.buf))
	w.text(term)
}

// postings ends a term. One without postings is taken back.
func (w *writer) postings(list []posting) {
	if len(list) > 0 {
		w.buf = appendPostings(w.buf, list, w.lengths)
		return
	}
	last := len(w.terms) - 1
	w.buf = w.buf[:w.terms[last]]
	w.terms, w.detail.terms = w.terms[:last], w.detail.terms[:last]
}

func (w *writer) text(t string) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(t)))
	w.buf = append(w.buf, t...)
}

func (w *writer) finish() (*Segment, error) {
	w.terms = append(w.terms, len(w.buf))
	data, err := assemble(w.buf, make([]byte, padding), w.docs, w.terms)
	if err != nil {
		return nil, err
	}
	s, err := Open(data)
	if err != nil {
		return nil, err
	}
	if data, err = w.detail.finish(); err != nil {
		return nil, err
	}
	d, err := s.OpenDetail(data)
	s.SetDetail(d)
	return s, err
}

// assemble puts the number of entries and their offsets before the entries, of two kinds, and the tail behind them.
func assemble(entries, tail []byte, first, second []int) (string, error) {
	tables := headerSize + offsetSize*(len(first)+len(second))
	size := tables + len(entries) + len(tail)
	if size > maxSize {
		return "", fmt.Errorf("segment of %d bytes: at most %d: index fewer documents at a time", size, int64(maxSize))
	}
	var out strings.Builder
	out.Grow(size)
	var number [offsetSize]byte
	put := func(n int) {
		binary.LittleEndian.PutUint32(number[:], uint32(n))
		out.Write(number[:])
	}
	put(len(first) - 1)
	put(len(second) - 1)
	for _, table := range [][]int{first, second} {
		for _, off := range table {
			put(tables + off)
		}
	}
	out.Write(entries)
	out.Write(tail)
	return out.String(), nil
}
