package sparse

import (
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// encodePayload writes what filters look at: metadata, then validity.
func encodePayload(m rag.Meta, v rag.Validity) (string, error) {
	clean, err := m.Clean()
	if err != nil {
		return "", err
	}
	w := record.NewWriter(0, 256)
	w.Map(clean)
	w.Bool(v.Stated)
	writeInstant(w, v.From)
	writeInstant(w, v.Until)
	return w.Fields()
}

// writeInstant drops the zone, which no filter looks at, and saves space on the zero time, which most are.
func writeInstant(w *record.Writer, t time.Time) {
	w.Bool(!t.IsZero())
	if !t.IsZero() {
		w.Int(int(t.Unix()))
		w.Uint(uint64(t.Nanosecond()))
	}
}

func decodePayload(payload string) (rag.Meta, rag.Validity) {
	r := record.NewReader(payload)
	m := rag.Meta(r.Map())
	var v rag.Validity
	v.Stated = r.Bool()
	v.From = readInstant(r)
	v.Until = readInstant(r)
	return m, v
}

func readInstant(r *record.Reader) time.Time {
	if !r.Bool() {
		return time.Time{}
	}
	sec, nsec := r.Int(), r.Uint()
	return time.Unix(int64(sec), int64(nsec)).UTC()
}

// accept returns the test of a payload against the filter; nil if every record passes.
func accept(f rag.Filter) func(payload string) bool {
	if f.IsZero() {
		return nil
	}
	return func(payload string) bool { return f.Match(decodePayload(payload)) }
}
