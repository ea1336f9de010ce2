// Package bm25 ranks documents by the words they share with a query (Robertson and Zaragoza, "The probabilistic
// relevance framework: BM25 and beyond", 2009, in the form that Lucene uses). It knows nothing of storage and of text
// analysis: terms come in, matches come out.
//
//	var x *bm25.Index // nil is the empty index
//	seg, err := bm25.Build([]bm25.Doc{{ID: "a", Tokens: []bm25.Token{{Term: "run", Weight: 1}}, Length: 1}})
//	x, err = x.With(nil, seg, nil)
//	matches, err := x.Search(ctx, bm25.Query{K: 10, Clauses: bm25.Words([]string{"run"}), Params: bm25.Params{K1: 1.2, B: 0.75}})
//
// An Index is a list of segments. A segment is immutable: one string that is kept as it was written, and searched in
// place. Documents leave by a mark beside the segment; segments are merged as their number grows, which drops what
// is marked. The statistics that scores depend on are those of the documents that are left, exactly.
package bm25

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
)

// ErrDamaged says that bytes are no segment.
var ErrDamaged = errors.New("segment is damaged")

// Doc is a document to be indexed.
type Doc struct {
	ID       string  // unique within one Build
	Tokens   []Token // in any order
	Length   uint32  // in terms, as the scores shall see it
	Stemming string  // how its words were stemmed; see Index.Stemmings
	Payload  string  // what Segment.Payload returns
}

// Token is one occurrence of a term.
type Token struct {
	Term     string
	Form     string // the word as it was written, by which Prefix and Fuzzy find the term; "" if that is the term itself
	Position uint32 // place among the words of the document, for phrases
	Weight   uint32 // how often it counts; 1 or more
}

// Segment is an immutable set of documents with their inverted index. It is safe for concurrent use.
//
// Layout, numbers little endian, "v" for an unsigned varint:
//
//	header   documents uint32, terms uint32
//	offsets  uint32 × (documents+1): where each document's entry begins; the last is where the first term's begins
//	offsets  uint32 × (terms+1): where each term's entry begins; the last is where the padding begins
//	document v length of ID, ID, v length in terms, v length of stemming, stemming, payload
//	term     v length of term, term, postings (see appendPostings); by term
//	padding  8 bytes of 0
//
// What only phrases, prefixes and fuzzy words need stands apart, in its [Detail].
type Segment struct {
	data    string
	docs    int
	terms   int
	ids     map[string]uint32 // ID to document number
	lengths []uint32          // by document number
	longest uint32            // the greatest of lengths
	numbers numbers           // where a term is
	stems   []uint8           // by document number: index into stemmings
	names   []string          // of stemmings
	detail  atomic.Pointer[Detail]
	memos   sync.Map
}

const (
	headerSize = 8
	offsetSize = 4
	maxSize    = 1<<32 - 1 // offsets are uint32
	maxStems   = 1 << 8    // stems are uint8
)

// Open reads a segment that [Segment.Data] gave, without its detail. It keeps data.
func Open(data string) (*Segment, error) {
	if len(data) < headerSize {
		return nil, fmt.Errorf("%d bytes: %w", len(data), ErrDamaged)
	}
	docs, terms := u32(data, 0), u32(data, 4)
	if tables := headerSize + offsetSize*(uint64(docs)+1+uint64(terms)+1); tables > uint64(len(data)) {
		return nil, fmt.Errorf("tables of %d bytes in %d: %w", tables, len(data), ErrDamaged)
	}
	s := &Segment{data: data, docs: int(docs), terms: int(terms)}
	if err := s.checkOffsets(); err != nil {
		return nil, err
	}
	s.numbers = newNumbers(s.terms, s.term)
	s.ids = make(map[string]uint32, s.docs)
	s.lengths = make([]uint32, s.docs)
	s.stems = make([]uint8, s.docs)
	for i := range s.docs {
		if err := s.openDoc(i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkOffsets makes sure that every entry lies between the tables and the end.
func (s *Segment) checkOffsets() error {
	last := uint32(s.termTable() + (s.terms+1)*offsetSize)
	for at := headerSize; at < s.termTable()+(s.terms+1)*offsetSize; at += offsetSize {
		off := u32(s.data, at)
		if off < last || int(off) > len(s.data) {
			return fmt.Errorf("entry at %d: %w", off, ErrDamaged)
		}
		last = off
	}
	if int(last) != len(s.data)-padding {
		return fmt.Errorf("%d bytes of %d: %w", len(s.data), last, ErrDamaged)
	}
	return nil
}

func (s *Segment) openDoc(i int) error {
	d := s.doc(i)
	if _, twice := s.ids[d.id]; d.bad || twice {
		return fmt.Errorf("document %d: %w", i, ErrDamaged)
	}
	s.ids[d.id] = uint32(i)
	s.lengths[i] = d.length
	s.longest = max(s.longest, d.length)
	stem := len(s.names)
	for j, name := range s.names {
		if name == d.stemming {
			stem = j
		}
	}
	if stem == len(s.names) {
		if stem == maxStems {
			return fmt.Errorf("more than %d stemmings: %w", maxStems, ErrDamaged)
		}
		s.names = append(s.names, d.stemming)
	}
	s.stems[i] = uint8(stem)
	return nil
}

// Data returns the segment's bytes, to be kept and given to [Open].
func (s *Segment) Data() string { return s.data }

// Payload returns what a document came with.
func (s *Segment) Payload(doc uint32) string { return s.doc(int(doc)).payload }

// Memo returns what derive returned for the key when it was first asked for. What it is derived from does not change, so
// it stays with the segment.
func (s *Segment) Memo(key any, derive func() any) any {
	if have, ok := s.memos.Load(key); ok {
		return have
	}
	have, _ := s.memos.LoadOrStore(key, derive())
	return have
}

// Docs returns the number of documents, marked ones included.
func (s *Segment) Docs() int { return s.docs }

// entry is a document as it stands in the data.
type entry struct {
	id       string
	length   uint32
	stemming string
	payload  string
	bad      bool
}

func (s *Segment) doc(i int) entry {
	r := reader{s: s.slice(headerSize, i)}
	var e entry
	e.id = r.text()
	e.length = uint32(r.number())
	e.stemming = r.text()
	e.payload, e.bad = r.s, r.bad
	return e
}

// id returns the ID of a document, which stands first in its entry.
func (s *Segment) id(doc uint32) string {
	return s.text(int(u32(s.data, headerSize+int(doc)*offsetSize)))
}

// text returns the text, behind its length, that begins at a place known to hold one.
func (s *Segment) text(at int) string {
	if n := int(s.data[at]); n < 0x80 && at+1+n <= len(s.data) { // nearly all
		return s.data[at+1 : at+1+n]
	}
	r := reader{s: s.data[at:]}
	return r.text()
}

// Detail returns what phrases, prefixes and fuzzy words need; nil if it is not there.
func (s *Segment) Detail() *Detail { return s.detail.Load() }

// SetDetail gives the segment its detail, or takes it away: nil.
func (s *Segment) SetDetail(d *Detail) { s.detail.Store(d) }

// term returns the i-th term.
func (s *Segment) term(i int) string {
	return s.text(int(u32(s.data, s.termTable()+i*offsetSize)))
}

// postings returns the list of the i-th term.
func (s *Segment) postings(i int) postings {
	r := reader{s: s.data[u32(s.data, s.termTable()+i*offsetSize):]}
	r.text()
	return openPostings(r.s, s.docs)
}

// lowest returns the number of the first term that is not below the one given.
func (s *Segment) lowest(term string) int {
	return sort.Search(s.terms, func(i int) bool { return s.term(i) >= term })
}

// find returns the number of a term; ok is false if the segment has not got it.
func (s *Segment) find(term string) (i int, ok bool) { return s.numbers.find(term, s.term) }

func (s *Segment) termTable() int { return headerSize + (s.docs+1)*offsetSize }

// slice returns the i-th entry of the table that begins at table.
func (s *Segment) slice(table, i int) string {
	at := table + i*offsetSize
	return s.data[u32(s.data, at):u32(s.data, at+offsetSize)]
}

// reader takes varints and texts off a string. After an error it is empty and bad.
type reader struct {
	s   string
	bad bool
}

func (r *reader) number() uint64 {
	v, next := varint(r.s, 0)
	if next == 0 {
		r.s, r.bad = "", true
		return 0
	}
	r.s = r.s[next:]
	return v
}

// varint returns the number at a place and the place behind it; 0 if there is none.
func varint(s string, at int) (v uint64, next int) {
	if at < len(s) && s[at] < 0x80 { // nearly all are one byte
		return uint64(s[at]), at + 1
	}
	return longVarint(s, at)
}

func longVarint(s string, at int) (v uint64, next int) {
	for i := 0; at+i < len(s) && i < binary.MaxVarintLen64; i++ {
		c := s[at+i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, at + i + 1
		}
	}
	return 0, 0
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.s)) {
		r.s, r.bad = "", true
		return ""
	}
	t := r.s[:n]
	r.s = r.s[n:]
	return t
}

func u32(s string, at int) uint32 {
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}
