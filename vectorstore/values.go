package vectorstore

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/seed-d8745b77/rag/internal/bitset"
)

// values maps the values of a field to the slots that have them. Ranges and prefixes need the values in order: they are
// sorted when one is first asked for, and later ones are merged in.
type values[K comparable] struct {
	order func(a, b K) int
	at    map[K]*posting

	mu     sync.Mutex // searches sort side by side
	sorted []value[K] // nil: not asked for yet
	newer  []value[K] // in at and not in sorted
}

type value[K comparable] struct {
	key   K
	slots *posting
}

func newValues[K comparable](order func(a, b K) int) *values[K] {
	return &values[K]{order: order, at: map[K]*posting{}}
}

// posting makes the posting of a value where it is missing; detached copies a value that would keep a whole record alive.
func (v *values[K]) posting(k K, detached func(K) K) *posting {
	p := v.at[k]
	if p == nil {
		p, k = &posting{}, detached(k)
		v.at[k] = p
		if v.sorted != nil {
			v.newer = append(v.newer, value[K]{k, p})
		}
	}
	return p
}

// equal adds the slots of a value to a set.
func (v *values[K]) equal(k K, set bitset.Set) {
	if p := v.at[k]; p != nil {
		p.into(set)
	}
}

// between adds the slots of the values from the first that is not below up to the first that is above; both conditions
// change once over the values in order.
func (v *values[K]) between(below, above func(K) bool, set bitset.Set) {
	all := v.inOrder()
	first := sort.Search(len(all), func(i int) bool { return !below(all[i].key) })
	for _, x := range all[first:] {
		if above(x.key) {
			return
		}
		x.slots.into(set)
	}
}

// inOrder brings the order up to date.
func (v *values[K]) inOrder() []value[K] {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sorted == nil {
		v.newer = make([]value[K], 0, len(v.at))
		for k, p := range v.at {
			v.newer = append(v.newer, value[K]{k, p})
		}
	}
	if len(v.newer) > 0 {
		byKey := func(a, b value[K]) int { return v.order(a.key, b.key) }
		slices.SortFunc(v.newer, byKey)
		v.sorted, v.newer = merged(v.sorted, v.newer, byKey), nil
	}
	return v.sorted
}

// merged joins two sorted lists that have nothing in common.
func merged[T any](a, b []T, order func(a, b T) int) []T {
	if len(a) == 0 {
		return b
	}
	all := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if order(a[0], b[0]) < 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// forget takes slots out, and values that none is left of.
func (v *values[K]) forget(gone bitset.Set) {
	for k, p := range v.at {
		if !p.forget(gone) {
			delete(v.at, k)
		}
	}
	v.sorted, v.newer = nil, nil
}

// sortedBy are the keys of a map in order: nothing that is written or closed may depend on the map's.
func sortedBy[K comparable, V any](m map[K]V, order func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), order)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return sortedBy(m, cmp.Compare) }
