package bm25

import "math/bits"

// Bitmap is a set of documents of a segment, by number.
type Bitmap []uint64

// NewBitmap returns an empty set for so many documents.
func NewBitmap(docs int) Bitmap { return make(Bitmap, (docs+63)/64) }

// Add adds documents.
func (b Bitmap) Add(docs []uint32) {
	for _, doc := range docs {
		b.set(doc)
	}
}

// And keeps what is in the other set too.
func (b Bitmap) And(other Bitmap) {
	for i := range b {
		b[i] &= other[i]
	}
}

// Or adds what is in the other set.
func (b Bitmap) Or(other Bitmap) {
	for i := range b {
		b[i] |= other[i]
	}
}

// Not turns the set into the one of all other documents. Bits beyond the last document may be set.
func (b Bitmap) Not() {
	for i := range b {
		b[i] = ^b[i]
	}
}

func (b Bitmap) has(doc uint32) bool { return b[doc/64]&(1<<(doc%64)) != 0 }
func (b Bitmap) set(doc uint32)      { b[doc/64] |= 1 << (doc % 64) }

// list returns the documents below a number, rising.
func (b Bitmap) list(below int) []uint32 {
	var docs []uint32
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if doc := i*64 + bits.TrailingZeros64(word); doc < below {
				docs = append(docs, uint32(doc))
			}
		}
	}
	return docs
}

// count returns how many documents are in the set, or a few more.
func (b Bitmap) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
