package bitset_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// TestAgainstMaps does the same to sets and to maps, at sizes on and beside the border of a word.
func TestAgainstMaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 63, 64, 65, 128, 200} {
		draw := func() (bitset.Set, map[uint32]bool) {
			s, m := bitset.New(n), map[uint32]bool{}
			for range rnd.IntN(n + 1) {
				number := rnd.Uint32N(uint32(n))
				s, m[number] = s.Add(number), true
			}
			for range rnd.IntN(5) {
				number := rnd.Uint32N(uint32(n))
				s.Remove(number)
				delete(m, number)
			}
			return s, m
		}
		for name, op := range map[string]struct {
			set  func(a, b bitset.Set)
			keep func(inA, inB bool) bool
		}{
			"none":       {func(bitset.Set, bitset.Set) {}, func(a, _ bool) bool { return a }},
			"and":        {bitset.Set.And, func(a, b bool) bool { return a && b }},
			"or":         {bitset.Set.Or, func(a, b bool) bool { return a || b }},
			"and not":    {bitset.Set.AndNot, func(a, b bool) bool { return a && !b }},
			"complement": {func(a, _ bitset.Set) { a.Complement(n) }, func(a, _ bool) bool { return !a }},
			"add all":    {func(a, b bitset.Set) { a.AddAll(slices.Collect(b.All())) }, func(a, b bool) bool { return a || b }},
		} {
			a, inA := draw()
			b, inB := draw()
			op.set(a, b)
			want := map[uint32]bool{}
			for number := range uint32(n) {
				if op.keep(inA[number], inB[number]) {
					want[number] = true
				}
				if a.Has(number) != want[number] {
					t.Errorf("%s of %d: has %d is %v", name, n, number, a.Has(number))
				}
			}
			if got := slices.Collect(a.All()); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || a.Count() != len(want) || !a.Below(n) {
				t.Errorf("%s of %d: got %v, %d, below %v, want %v", name, n, got, a.Count(), a.Below(n), want)
			}
		}
	}
}

func TestSetsOfDifferentRoom(t *testing.T) {
	short, long := bitset.New(10).Add(3), bitset.New(200).Add(3).Add(150)
	if long.And(short); long.Count() != 1 || !long.Has(3) {
		t.Errorf("and with a shorter one: %v", slices.Collect(long.All()))
	}
	if short.AndNot(bitset.New(200).Add(3).Add(150)); short.Count() != 0 {
		t.Errorf("without a longer one: %v", slices.Collect(short.All()))
	}
	var grown bitset.Set
	if grown = grown.Add(1000); !grown.Has(1000) || grown.Has(2000) || grown.Below(1000) || !grown.Below(1001) || !grown.Below(5000) {
		t.Errorf("grown: %v", slices.Collect(grown.All()))
	}
	if grown.Remove(5000); grown.Count() != 1 {
		t.Errorf("what was not there is gone: %v", slices.Collect(grown.All()))
	}
}
