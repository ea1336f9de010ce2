// Package bitset holds sets of small numbers: slots of a vector store, documents of a segment.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of numbers, one bit each; nil is the empty one. A million numbers take 125 kB, and an operation on two
// such sets some 10 µs: less than a compressed form would save anything for.
type Set []uint64

// WordBits is the number of members that one element of a Set stands for.
const WordBits = 64

// New returns an empty set with room for numbers below n.
func New(n int) Set { return make(Set, (n+WordBits-1)/WordBits) }

// Has reports whether a number is in the set.
func (s Set) Has(number uint32) bool {
	return int(number/WordBits) < len(s) && s[number/WordBits]&(1<<(number%WordBits)) != 0
}

// Add puts a number in and returns the set, as append does: it grows where the number lies beyond it.
func (s Set) Add(number uint32) Set {
	if n := int(number/WordBits) + 1; n > len(s) {
		s = append(s, make(Set, n-len(s))...)
	}
	s[number/WordBits] |= 1 << (number % WordBits)
	return s
}

// AddAll puts numbers in for which the set has room.
func (s Set) AddAll(numbers []uint32) {
	for _, n := range numbers {
		s[n/WordBits] |= 1 << (n % WordBits)
	}
}

// Remove takes a number out.
func (s Set) Remove(number uint32) {
	if int(number/WordBits) < len(s) {
		s[number/WordBits] &^= 1 << (number % WordBits)
	}
}

// Below reports whether the set has room for no more than numbers below n, and has none from there on.
func (s Set) Below(n int) bool {
	words := (n + WordBits - 1) / WordBits
	return len(s) < words || len(s) == words && (n%WordBits == 0 || s[len(s)-1]>>(n%WordBits) == 0)
}

// Count returns how many numbers are in the set.
func (s Set) Count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// And keeps what is in the other set as well.
func (s Set) And(other Set) {
	n := min(len(s), len(other))
	for i, word := range other[:n] {
		s[i] &= word
	}
	clear(s[n:])
}

// Or adds what is in the other set, which has no more room.
func (s Set) Or(other Set) {
	for i, word := range other {
		s[i] |= word
	}
}

// AndNot takes away what is in the other set.
func (s Set) AndNot(other Set) {
	for i, word := range other[:min(len(s), len(other))] {
		s[i] &^= word
	}
}

// Complement turns the set, made with New(n), into that of the other numbers below n.
func (s Set) Complement(n int) {
	for i := range s {
		s[i] = ^s[i]
	}
	if n%WordBits != 0 {
		s[len(s)-1] &= 1<<(n%WordBits) - 1
	}
}

// All yields the numbers in ascending order.
func (s Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*WordBits + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
