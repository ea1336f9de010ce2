package hnsw

import "math"

// key is a score and a slot in one number: the better score is the greater key, and of equal scores the lower slot.
type key uint64

func pack(score float32, slot uint32) key {
	b := math.Float32bits(score)
	if b>>31 == 0 {
		b |= 1 << 31
	} else {
		b = ^b
	}
	return key(b)<<32 | key(^slot)
}

func (k key) slot() uint32 { return ^uint32(k) }

func (k key) score() float32 {
	b := uint32(k >> 32)
	if b>>31 == 1 {
		return math.Float32frombits(b &^ (1 << 31))
	}
	return math.Float32frombits(^b)
}

// heap has the greatest key first.
type heap []key

func (h *heap) push(k key) {
	s := append(*h, k)
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent] >= k {
			break
		}
		s[i], i = s[parent], parent
	}
	s[i] = k
	*h = s
}

func (h *heap) pop() key {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1] > s[child] {
			child++
		}
		if s[child] <= last {
			break
		}
		s[i], i = s[child], child
	}
	s[i] = last
	return first
}

// bits is a set of slots that remembers what to clear.
type bits struct {
	words   []uint64
	touched []uint32 // words that are not zero
}

// add puts a slot into the set and reports whether it was new.
func (b *bits) add(slot uint32) bool {
	at := slot / 64
	if int(at) >= len(b.words) {
		b.words = append(b.words, make([]uint64, int(at)+1-len(b.words))...)
	}
	mask := uint64(1) << (slot % 64)
	word := b.words[at]
	if word&mask != 0 {
		return false
	}
	if word == 0 {
		b.touched = append(b.touched, at)
	}
	b.words[at] = word | mask
	return true
}

func (b *bits) has(slot uint32) bool {
	at := slot / 64
	return int(at) < len(b.words) && b.words[at]>>(slot%64)&1 == 1
}

func (b *bits) clear() {
	for _, at := range b.touched {
		b.words[at] = 0
	}
	b.touched = b.touched[:0]
}
