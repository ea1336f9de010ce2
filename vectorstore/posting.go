package vectorstore

import (
	"slices"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// posting is the set of slots that have one value: a sorted list while that is smaller than a bitmap would be, since most
// values (an address, a title) belong to few records.
type posting struct {
	list []uint32
	bits bitset.Set // nil: list counts
}

// listMax is the length from which a list is looked at for becoming a bitmap.
const listMax = 64

// add puts a slot in; slots is how many there are.
func (p *posting) add(slot uint32, slots int) {
	if p.bits != nil {
		p.bits = p.bits.Add(slot)
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
		p.bits = bitset.New(slots)
		p.bits.AddAll(p.list)
		p.list = nil
	}
}

// into adds the members to a set that is long enough for all slots.
func (p *posting) into(set bitset.Set) {
	set.Or(p.bits)
	set.AddAll(p.list)
}

// forget takes slots away, and reports whether any are left.
func (p *posting) forget(gone bitset.Set) bool {
	if p.bits != nil {
		p.bits.AndNot(gone)
		return slices.ContainsFunc(p.bits, func(w uint64) bool { return w != 0 })
	}
	p.list = slices.DeleteFunc(p.list, gone.Has)
	return len(p.list) > 0
}
