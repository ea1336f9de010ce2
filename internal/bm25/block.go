package bm25

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is the number of postings that are packed, decoded and bounded together: Lucene's, and small enough that
// the best of a block says something about each of its documents.
const blockSize = 128

// padding is the number of bytes after the last entry of a segment, so that a number of a packed block can be loaded
// as eight bytes wherever it lies.
const padding = 8

// posting is a document that has a term.
type posting struct {
	doc uint32
	tf  uint32 // how much of the term it has; 1 or more
}

// impact bounds the postings of a block: one of them at least has so much of the term in a document so short. A block
// keeps those impacts that no other beats in both, so that the best score of the block can be computed under
// whatever statistics and parameters (Lucene's "competitive" impacts).
type impact struct{ tf, length uint32 }

// appendPostings appends a term's postings: their number and, if they fill more than one block, a table with the
// last document of each block and where the block ends. The blocks follow. In a list of one block the bound is not worth its bytes.
func appendPostings(b []byte, list []posting, lengths []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	if len(list) <= blockSize {
		return appendBlock(b, list, 0)
	}
	n := blocksOf(len(list))
	table := len(b)
	b = append(b, make([]byte, n*tableEntry)...)
	start, next := len(b), uint32(0)
	for i := range n {
		block := list[i*blockSize : min(len(list), (i+1)*blockSize)]
		b = appendImpacts(b, block, lengths)
		b = appendBlock(b, block, next)
		last := block[len(block)-1].doc
		next = last + 1
		binary.LittleEndian.PutUint32(b[table+i*tableEntry:], last)
		binary.LittleEndian.PutUint32(b[table+i*tableEntry+4:], uint32(len(b)-start))
	}
	return b
}

// tableEntry is the size in bytes of a block's entry: last document, end.
const tableEntry = 8

func blocksOf(postings int) int { return (postings + blockSize - 1) / blockSize }

// appendImpacts appends how many bytes follow, and each impact as its distance to the one before it: both numbers rise.
func appendImpacts(b []byte, block []posting, lengths []uint32) []byte {
	var list []byte
	var before impact
	for _, k := range competitive(block, lengths) {
		list = binary.AppendUvarint(list, uint64(k.tf-before.tf))
		list = binary.AppendUvarint(list, uint64(k.length-before.length))
		before = k
	}
	return append(binary.AppendUvarint(b, uint64(len(list))), list...)
}

// competitive returns the impacts that no other beats, by rising tf and length.
func competitive(block []posting, lengths []uint32) []impact {
	var kept []impact
	for _, p := range block {
		in := impact{p.tf, lengths[p.doc]}
		at, beaten := len(kept), false
		for i, k := range kept {
			if k.tf >= in.tf && k.length <= in.length {
				beaten = true
				break
			}
			if k.tf > in.tf {
				at = i
				break
			}
		}
		if beaten {
			continue
		}
		// Those that the new one beats have at most its tf and at least its length: a run just before its place.
		first := at
		for first > 0 && kept[first-1].length >= in.length {
			first--
		}
		kept = append(kept[:first], append([]impact{in}, kept[at:]...)...)
	}
	return kept
}

// appendBlock appends postings, of which the first has at least the document next. A full block is packed: the widths
// in bits of the distances and of the counts less one, a byte each, then all distances, then all counts. A shorter one
// is a sequence of varints: distance × 2, + 1 if the count is 1, else the count behind it.
func appendBlock(b []byte, block []posting, next uint32) []byte {
	if len(block) < blockSize {
		for _, p := range block {
			head := uint64(p.doc-next) << 1
			if p.tf == 1 {
				b = binary.AppendUvarint(b, head|1)
			} else {
				b = binary.AppendUvarint(binary.AppendUvarint(b, head), uint64(p.tf))
			}
			next = p.doc + 1
		}
		return b
	}
	var gaps, tfs [blockSize]uint32
	var gapBits, tfBits uint32
	for i, p := range block {
		gaps[i], tfs[i] = p.doc-next, p.tf-1
		gapBits, tfBits = gapBits|gaps[i], tfBits|tfs[i]
		next = p.doc + 1
	}
	gapWidth, tfWidth := bits.Len32(gapBits), bits.Len32(tfBits)
	b = append(b, byte(gapWidth), byte(tfWidth))
	return appendPacked(appendPacked(b, gaps[:], gapWidth), tfs[:], tfWidth)
}

// appendPacked appends numbers of width bits each, the first in the lowest bits.
func appendPacked(b []byte, numbers []uint32, width int) []byte {
	var word uint64
	have := 0
	for _, n := range numbers {
		word |= uint64(n) << have
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b // a full block of any width ends with a byte
}

// packedSize is the size in bytes of a full block's numbers.
func packedSize(width int) int { return width * blockSize / 8 }

// unpack reads numbers of width bits from s, which has padding behind them.
func unpack(dst *[blockSize]uint32, s string, width int) {
	mask := uint64(1)<<width - 1
	bit := 0
	for i := range dst {
		dst[i] = uint32(u64(s, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
}

func u64(s string, at int) uint64 {
	s = s[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
