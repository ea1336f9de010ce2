package sparse

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// Kinds of metadata values in a payload.
const (
	kindString = iota
	kindNumber
	kindFalse
	kindTrue
	kindStrings
)

// encodePayload writes what filters look at: validity, then metadata by name.
func encodePayload(m rag.Meta, v rag.Validity) (string, error) {
	clean, err := m.Clean()
	if err != nil {
		return "", err
	}
	w := record.NewWriter(0, 256)
	w.Bool(v.Stated)
	writeInstant(w, v.From)
	writeInstant(w, v.Until)
	w.Len(len(clean), false)
	for _, name := range slices.Sorted(maps.Keys(clean)) {
		w.String(name)
		writeValue(w, clean[name])
	}
	return w.Fields()
}

// writeValue writes a value of one of the kinds that rag.Meta.Clean leaves.
func writeValue(w *record.Writer, v any) {
	switch v := v.(type) {
	case string:
		w.Uint(kindString)
		w.String(v)
	case float64:
		w.Uint(kindNumber)
		w.Float64(v)
	case bool:
		if v {
			w.Uint(kindTrue)
		} else {
			w.Uint(kindFalse)
		}
	case []string:
		w.Uint(kindStrings)
		w.Strings(v)
	}
}

// writeInstant drops the zone, which no filter looks at, and saves space on the zero time, which most are.
func writeInstant(w *record.Writer, t time.Time) {
	w.Bool(!t.IsZero())
	if !t.IsZero() {
		w.Int(int(t.Unix()))
		w.Uint(uint64(t.Nanosecond()))
	}
}

// decodePayload puts the named fields into m.
func decodePayload(payload string, named map[string]bool, m rag.Meta) (v rag.Validity) {
	r := record.NewReader(payload)
	v.Stated = r.Bool()
	v.From = readInstant(r)
	v.Until = readInstant(r)
	n, _ := r.Len()
	for range n {
		name := r.String()
		want := named[name]
		switch r.Uint() {
		case kindString:
			if s := r.String(); want {
				m[name] = s
			}
		case kindNumber:
			if x := r.Float64(); want {
				m[name] = x
			}
		case kindFalse:
			if want {
				m[name] = false
			}
		case kindTrue:
			if want {
				m[name] = true
			}
		case kindStrings:
			if list := r.Strings(); want {
				m[name] = list
			}
		}
	}
	return v
}

func readInstant(r *record.Reader) time.Time {
	if !r.Bool() {
		return time.Time{}
	}
	sec, nsec := r.Int(), r.Uint()
	return time.Unix(int64(sec), int64(nsec)).UTC()
}
