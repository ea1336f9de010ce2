package vectorstore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSlotsAgreeWithAMap adds, removes and reclaims at random.
func TestSlotsAgreeWithAMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s slots
	model := map[string]uint32{}
	ids := map[uint32]string{}
	find := func(id string) (uint32, bool) {
		slot, ok, err := s.find(hashOf(id), func(slot uint32) (bool, error) { return ids[slot] == id, nil })
		if err != nil {
			t.Fatal(err)
		}
		return slot, ok
	}
	for round := range 20_000 {
		id := fmt.Sprint(rnd.IntN(600))
		slot, ok := find(id)
		if want, known := model[id]; known != ok || known && slot != want {
			t.Fatalf("round %d: %s is in slot %d (%v), want %d (%v)", round, id, slot, ok, want, known)
		}
		switch {
		case ok:
			s.remove(slot)
			delete(model, id)
		case rnd.IntN(3) > 0:
			slot := s.reserve(1)[0]
			if s.live.Has(slot) {
				t.Fatalf("round %d: slot %d is in use", round, slot)
			}
			s.set(slot, hashOf(id), uint64(round))
			model[id], ids[slot] = slot, id
		}
		if round%500 == 499 {
			gone := s.reclaim()
			for _, slot := range model {
				if gone.Has(slot) {
					t.Fatalf("round %d: live slot %d was reclaimed", round, slot)
				}
			}
		}
		if s.n != len(model) || s.live.Count() != s.n {
			t.Fatalf("round %d: %d live, %d bits, want %d", round, s.n, s.live.Count(), len(model))
		}
	}
	if s.count() > 2000 {
		t.Errorf("%d slots for at most 600 records: freed ones are not used again", s.count())
	}
}
