package bm25

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Build makes a segment of documents. The error says that they are too many for one: more than 4 GiB.
func Build(docs []Doc) (*Segment, error) {
	type occurrence struct {
		doc   int
		count uint32
	}
	lists := map[string][]occurrence{}
	for i, d := range docs {
		for term, count := range d.Terms {
			lists[term] = append(lists[term], occurrence{i, count})
		}
	}
	terms := make([]string, 0, len(lists))
	for t := range lists {
		terms = append(terms, t)
	}
	slices.Sort(terms)

	w := newWriter(len(docs), len(terms))
	for _, d := range docs {
		w.doc(entry{id: d.ID, length: d.Length, stemming: d.Stemming, payload: d.Payload})
	}
	w.endDocs()
	for _, t := range terms {
		w.startTerm(t)
		for _, o := range lists[t] {
			w.posting(uint64(o.doc), o.count)
		}
	}
	return w.finish()
}

// writer writes a segment: all documents, then all terms with their postings, in order.
type writer struct {
	buf   []byte // entries; the tables are put before them at the end
	docs  []int  // where in buf each document begins, and where the last ends
	terms []int  // the same for terms
	next  uint64 // document number that a posting of distance 0 has
}

func newWriter(docs, terms int) *writer {
	return &writer{docs: make([]int, 0, docs+1), terms: make([]int, 0, terms+1)}
}

func (w *writer) doc(e entry) {
	w.docs = append(w.docs, len(w.buf))
	w.text(e.id)
	w.buf = binary.AppendUvarint(w.buf, uint64(e.length))
	w.text(e.stemming)
	w.buf = append(w.buf, e.payload...)
}

func (w *writer) startTerm(term string) {
	w.terms = append(w.terms, len(w.buf))
	w.text(term)
	w.next = 0
}

// endDocs is called between the documents and the terms.
func (w *writer) endDocs() { w.docs = append(w.docs, len(w.buf)) }

// dropTerm takes back a term that turned out to have no postings.
func (w *writer) dropTerm() {
	last := len(w.terms) - 1
	w.buf = w.buf[:w.terms[last]]
	w.terms = w.terms[:last]
}

func (w *writer) posting(doc uint64, count uint32) {
	w.buf = appendPosting(w.buf, w.next, doc, count)
	w.next = doc + 1
}

func (w *writer) text(t string) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(t)))
	w.buf = append(w.buf, t...)
}

func (w *writer) finish() (*Segment, error) {
	w.terms = append(w.terms, len(w.buf))
	tables := headerSize + offsetSize*(len(w.docs)+len(w.terms))
	if tables+len(w.buf) > maxSize {
		return nil, fmt.Errorf("segment of %d bytes: at most %d: index fewer documents at a time", tables+len(w.buf), int64(maxSize))
	}
	out := make([]byte, 0, tables+len(w.buf))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(w.docs)-1))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(w.terms)-1))
	for _, table := range [][]int{w.docs, w.terms} {
		for _, off := range table {
			out = binary.LittleEndian.AppendUint32(out, uint32(tables+off))
		}
	}
	return Open(string(append(out, w.buf...)))
}
