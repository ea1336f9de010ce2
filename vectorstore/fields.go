package vectorstore

import "github.com/seed-d8745b77/rag"

// fields is what a filter looks at.
type fields struct {
	meta     rag.Meta
	validity rag.Validity
	rows     int // that have these fields; 0: the place is free
}

// fieldTable keeps equal fields once: the passages of a page have the same, so a filter is asked once per page and not
// once per passage, and the maps take little memory.
type fieldTable struct {
	all  []fields
	free []uint32          // places in all
	at   map[string]uint32 // encoded fields → place in all
	keys []string          // place → encoded fields
}

// use returns the place of encoded fields and counts one more row that has them.
func (t *fieldTable) use(encoded string) (uint32, error) {
	if at, ok := t.at[encoded]; ok {
		t.all[at].rows++
		return at, nil
	}
	f, err := decodeFields(encoded)
	if err != nil {
		return 0, err
	}
	f.rows = 1
	at := uint32(len(t.all))
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
		t.all[at], t.keys[at] = f, encoded
	} else {
		t.all, t.keys = append(t.all, f), append(t.keys, encoded)
	}
	t.at[encoded] = at
	return at, nil
}

// release counts one row less.
func (t *fieldTable) release(at uint32) {
	if t.all[at].rows--; t.all[at].rows == 0 {
		delete(t.at, t.keys[at])
		t.all[at], t.keys[at] = fields{}, ""
		t.free = append(t.free, at)
	}
}

// match returns by place whether the filter matches, and how many rows do; nil for a filter that matches everything.
func (t *fieldTable) match(f rag.Filter) (allowed []bool, rows int) {
	if f.IsZero() {
		return nil, 0
	}
	allowed = make([]bool, len(t.all))
	for i := range t.all {
		if x := &t.all[i]; x.rows > 0 && f.Match(x.meta, x.validity) {
			allowed[i] = true
			rows += x.rows
		}
	}
	return allowed, rows
}
