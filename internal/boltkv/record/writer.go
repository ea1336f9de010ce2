package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind bytes of the values of a Map.
const (
	kindString  = 's'
	kindFloat64 = 'f'
	kindFalse   = '0'
	kindTrue    = '1'
	kindStrings = 'l'
)

// Writer appends fields to a record. The first error sticks and is returned by Finish.
type Writer struct {
	buf []byte
	err error
}

// NewWriter starts a record; size is a guess of its length in bytes.
func NewWriter(version byte, size int) *Writer {
	w := &Writer{buf: make([]byte, headerLen, headerLen+size)}
	w.buf[0] = version
	return w
}

// Finish seals the record and returns it; the writer must not be used again.
func (w *Writer) Finish() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	binary.LittleEndian.PutUint32(w.buf[1:], checksum(w.buf))
	return w.buf, nil
}

// Fields returns the encoded fields so far, without the header: to be embedded in another record as a String.
func (w *Writer) Fields() (string, error) { return string(w.buf[headerLen:]), w.err }

// Uint appends an unsigned number as a varint.
func (w *Writer) Uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

// Int appends a signed number as a zigzag varint.
func (w *Writer) Int(v int) { w.buf = binary.AppendVarint(w.buf, int64(v)) }

// Bool appends one byte.
func (w *Writer) Bool(v bool) {
	if v {
		w.buf = append(w.buf, 1)
	} else {
		w.buf = append(w.buf, 0)
	}
}

// String appends length and bytes.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// Raw appends bytes without their length: the reader must know it.
func (w *Writer) Raw(b []byte) { w.buf = append(w.buf, b...) }

// Len appends the length of a list that may be nil: 0 is nil, n+1 is n elements. [Reader.Len] reads it.
func (w *Writer) Len(n int, isNil bool) {
	if isNil {
		w.Uint(0)
		return
	}
	w.Uint(uint64(n) + 1)
}

// Strings appends a list; nil and empty stay apart.
func (w *Writer) Strings(list []string) {
	w.Len(len(list), list == nil)
	for _, s := range list {
		w.String(s)
	}
}

// Float64 appends the eight bytes of v, little endian.
func (w *Writer) Float64(v float64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(v))
}

// Float32s appends four little-endian bytes each, without a length.
func (w *Writer) Float32s(v []float32) {
	w.buf = slices.Grow(w.buf, 4*len(v))
	for _, x := range v {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(x))
	}
}

// Time appends instant and zone offset; the zone's name is lost. The zero time takes one byte.
func (w *Writer) Time(t time.Time) {
	if t.IsZero() {
		w.String("")
		return
	}
	b, err := t.MarshalBinary()
	if err != nil {
		w.fail(fmt.Errorf("time %v: %w: %w", t, err, ErrKind))
	}
	w.String(string(b))
}

// Map appends a map of string, float64, bool and []string, sorted by key, so that equal maps have equal bytes. A value of
// another kind is ErrKind.
func (w *Writer) Map(m map[string]any) {
	w.Len(len(m), m == nil)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		w.String(k)
		switch v := m[k].(type) {
		case string:
			w.buf = append(w.buf, kindString)
			w.String(v)
		case float64:
			w.buf = append(w.buf, kindFloat64)
			w.Float64(v)
		case bool:
			kind := byte(kindFalse)
			if v {
				kind = kindTrue
			}
			w.buf = append(w.buf, kind)
		case []string:
			w.buf = append(w.buf, kindStrings)
			w.Strings(v)
		default:
			w.fail(fmt.Errorf("%q is a %T, not a string, float64, bool or []string: %w", k, v, ErrKind))
		}
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
