package vectorstore

import (
	"fmt"
	"math"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
)

// slots says where the records of a collection are: which slot has which key in the file, and which slot an ID has. The IDs
// themselves stay in the file. A slot takes 4 bytes for the key, 4 for the ID's hash and 4 to 6 in the hash table.
// The slot of a record that is gone is used again only after reclaim, since others may still point at it.
type slots struct {
	keys   []uint32 // by slot
	hashes []uint32 // by slot: hashOf the ID
	live   bitset.Set
	n      int      // live ones
	gone   int      // slots that are neither live nor free
	free   []uint32 // to be used again
	table  []uint32 // open addressing by hash, linear probing; slot+1, 0 is empty
}

// hashOf is FNV-1a with a finishing mix, since the table uses the upper bits. It is kept in snapshots.
func hashOf(id string) uint32 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// count is the number of slots, live or not.
func (s *slots) count() int { return len(s.keys) }

// find returns the slot of an ID; is tells whether the record in a slot has that ID, and is asked where hashes agree.
func (s *slots) find(hash uint32, is func(slot uint32) (bool, error)) (slot uint32, ok bool, err error) {
	if len(s.table) == 0 {
		return 0, false, nil
	}
	for i := s.home(hash); s.table[i] != 0; i = s.next(i) {
		slot = s.table[i] - 1
		if s.hashes[slot] != hash {
			continue
		}
		if ok, err = is(slot); ok || err != nil {
			return slot, ok, err
		}
	}
	return 0, false, nil
}

// home is where the search for a hash begins.
func (s *slots) home(hash uint32) int { return int(uint64(hash) * uint64(len(s.table)) >> 32) }

func (s *slots) next(i int) int {
	if i++; i == len(s.table) {
		return 0
	}
	return i
}

// reserve returns n slots for records to come: freed ones, then new ones at the end. They are not taken before set.
func (s *slots) reserve(n int) []uint32 {
	list := make([]uint32, 0, n)
	for i := range min(n, len(s.free)) {
		list = append(list, s.free[len(s.free)-1-i])
	}
	for next := s.count(); len(list) < n; next++ {
		list = append(list, uint32(next))
	}
	return list
}

// set puts a record into a slot that reserve returned, in that order.
func (s *slots) set(slot uint32, hash uint32, key uint64) {
	if int(slot) == s.count() {
		s.keys, s.hashes = append(s.keys, 0), append(s.hashes, 0)
	} else {
		s.free = s.free[:len(s.free)-1]
	}
	s.keys[slot], s.hashes[slot] = uint32(key), hash
	s.live = s.live.Add(slot)
	s.n++
	s.link(slot)
}

// link enters a slot in the table, which is at most 7/8 full and grows by a half.
func (s *slots) link(slot uint32) {
	if s.n*8 > len(s.table)*7 {
		s.rebuild(max(16, len(s.table)*3/2))
		return // with all that is live
	}
	s.place(slot)
}

func (s *slots) place(slot uint32) {
	i := s.home(s.hashes[slot])
	for s.table[i] != 0 {
		i = s.next(i)
	}
	s.table[i] = slot + 1
}

func (s *slots) rebuild(size int) {
	s.table = make([]uint32, size)
	for slot := range s.live.All() {
		s.place(slot)
	}
}

// remove takes a live record out.
func (s *slots) remove(slot uint32) {
	s.live.Remove(slot)
	s.n--
	s.gone++
	i := s.home(s.hashes[slot])
	for s.table[i] != slot+1 {
		i = s.next(i)
	}
	s.unlink(i)
}

// unlink empties a place of the table and closes the gap, so that what lies behind is still found (Knuth, volume 3,
// algorithm 6.4R).
func (s *slots) unlink(hole int) {
	for i := s.next(hole); s.table[i] != 0; i = s.next(i) {
		// An entry may move into the hole unless its home lies, going round, between hole and entry.
		home := s.home(s.hashes[s.table[i]-1])
		if between := (home-hole-1+len(s.table))%len(s.table) < (i-hole+len(s.table))%len(s.table); !between {
			s.table[hole], hole = s.table[i], i
		}
	}
	s.table[hole] = 0
}

// reclaim returns the slots of records that are gone, and frees them: nothing may point at them any more.
func (s *slots) reclaim() bitset.Set {
	gone := s.goneSlots()
	s.free = s.free[:0]
	for slot := s.count() - 1; slot >= 0; slot-- { // the lowest is used first
		if !s.live.Has(uint32(slot)) {
			s.free = append(s.free, uint32(slot))
		}
	}
	s.gone = 0
	return gone
}

// goneSlots are those that are neither live nor free.
func (s *slots) goneSlots() bitset.Set {
	gone := bitset.New(s.count())
	gone.Complement(s.count())
	gone.AndNot(s.live)
	for _, slot := range s.free {
		gone.Remove(slot)
	}
	return gone
}

// checkKey refuses a key that a slot cannot hold: four thousand million records were written to the collection.
func checkKey(collection string, key uint64) error {
	if key > math.MaxUint32 {
		return fmt.Errorf("collection %q has used up its record keys: build it anew with a reindex: %w", collection, rag.ErrInvalid)
	}
	return nil
}
