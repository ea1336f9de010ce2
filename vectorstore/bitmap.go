package vectorstore

import (
	"iter"
	"math/bits"
	"slices"
)

// bitmap is a set of slots, one bit each. A million slots take 125 kB, and an operation on two such sets some 10 µs: less
// than a compressed form would save anything for.
type bitmap []uint64

const wordBits = 64

// newBitmap has room for slots below n.
func newBitmap(n int) bitmap { return make(bitmap, (n+wordBits-1)/wordBits) }

func (b bitmap) has(slot uint32) bool {
	return int(slot/wordBits) < len(b) && b[slot/wordBits]&(1<<(slot%wordBits)) != 0
}

// add puts a slot in and returns the set, as append does: it grows where the slot lies beyond it.
func (b bitmap) add(slot uint32) bitmap {
	if n := int(slot/wordBits) + 1; n > len(b) {
		b = append(b, make(bitmap, n-len(b))...)
	}
	b[slot/wordBits] |= 1 << (slot % wordBits)
	return b
}

func (b bitmap) remove(slot uint32) {
	if int(slot/wordBits) < len(b) {
		b[slot/wordBits] &^= 1 << (slot % wordBits)
	}
}

// below reports whether the set has room for no more than slots below n, and has none from there on.
func (b bitmap) below(n int) bool {
	return len(b) < len(newBitmap(n)) || len(b) == len(newBitmap(n)) && (n%wordBits == 0 || b[len(b)-1]>>(n%wordBits) == 0)
}

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// and keeps what is in o as well.
func (b bitmap) and(o bitmap) {
	n := min(len(b), len(o))
	for i, w := range o[:n] {
		b[i] &= w
	}
	clear(b[n:])
}

// or adds what is in o; b must be as long.
func (b bitmap) or(o bitmap) {
	for i, w := range o {
		b[i] |= w
	}
}

// andNot takes away what is in o.
func (b bitmap) andNot(o bitmap) {
	for i, w := range o[:min(len(b), len(o))] {
		b[i] &^= w
	}
}

// slots yields the members in ascending order.
func (b bitmap) slots() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i*wordBits + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// posting is the set of slots that have one value: a sorted list while that is smaller than a bitmap would be, since most
// values (an address, a title) belong to few records.
type posting struct {
	list []uint32
	bits bitmap // nil: list counts
}

// listMax is the length from which a list is looked at for becoming a bitmap.
const listMax = 64

// add puts a slot in; slots is how many there are.
func (p *posting) add(slot uint32, slots int) {
	if p.bits != nil {
		p.bits = p.bits.add(slot)
		return
	}
	at, found := len(p.list), false
	if at > 0 && p.list[at-1] >= slot { // new slots mostly go to the end
		at, found = slices.BinarySearch(p.list, slot)
	}
	if !found {
		p.list = slices.Insert(p.list, at, slot)
	}
	if len(p.list) > listMax && len(p.list)*32 > slots { // 32 bits a number, against 1 bit a slot
		p.bits = newBitmap(slots)
		for _, s := range p.list {
			p.bits = p.bits.add(s)
		}
		p.list = nil
	}
}

// into adds the members to a set that is long enough for all slots.
func (p *posting) into(set bitmap) {
	set.or(p.bits)
	for _, s := range p.list {
		set[s/wordBits] |= 1 << (s % wordBits)
	}
}

// forget takes slots away, and reports whether any are left.
func (p *posting) forget(gone bitmap) bool {
	if p.bits != nil {
		p.bits.andNot(gone)
		return slices.ContainsFunc(p.bits, func(w uint64) bool { return w != 0 })
	}
	p.list = slices.DeleteFunc(p.list, gone.has)
	return len(p.list) > 0
}
