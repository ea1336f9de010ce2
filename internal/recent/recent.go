// Package recent keeps what was used last.
package recent

// Values keeps a value under each key, and forgets the one that was not used for longest where there are too many. The
// caller takes care that one goroutine uses it at a time.
type Values[V any] struct {
	most int
	of   map[string]*entry[V]
	uses uint64
}

type entry[V any] struct {
	value V
	used  uint64 // higher is later
}

// New keeps at most so many values.
func New[V any](most int) *Values[V] { return &Values[V]{most: most, of: map[string]*entry[V]{}} }

// Get returns the value of a key, and makes it where there is none.
func (v *Values[V]) Get(key string, create func() V) V {
	e := v.of[key]
	if e == nil {
		v.forget()
		e = &entry[V]{value: create()}
		v.of[key] = e
	}
	v.uses++
	e.used = v.uses
	return e.value
}

// forget makes room for a value.
func (v *Values[V]) forget() {
	if len(v.of) < v.most {
		return
	}
	oldest := ""
	for key, e := range v.of {
		if oldest == "" || e.used < v.of[oldest].used {
			oldest = key
		}
	}
	delete(v.of, oldest)
}

// Len is how many values are kept.
func (v *Values[V]) Len() int { return len(v.of) }
