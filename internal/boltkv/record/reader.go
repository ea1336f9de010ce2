package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Reader takes fields off a record in the order they were written. The first error sticks: later reads return zero
// values, and Close returns the error. Strings share one copy of the record.
type Reader struct {
	s   string
	err error
}

// NewReader reads fields that were embedded with [Writer.Fields].
func NewReader(fields string) *Reader { return &Reader{s: fields} }

// Close returns the first error, or ErrDamaged if fields are left over.
func (r *Reader) Close() error {
	if r.err == nil && r.s != "" {
		r.fail("%d bytes too many", len(r.s))
	}
	return r.err
}

func (r *Reader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format+": %w", append(a, ErrDamaged)...)
	}
	r.s = ""
}

// Raw takes n bytes.
func (r *Reader) Raw(n int) string {
	if n < 0 || n > len(r.s) {
		r.fail("field of %d bytes, %d left", n, len(r.s))
		return ""
	}
	s := r.s[:n]
	r.s = r.s[n:]
	return s
}

// Uint takes an unsigned varint.
func (r *Reader) Uint() uint64 {
	var v uint64
	for i := 0; i < len(r.s) && i < binary.MaxVarintLen64; i++ {
		c := r.s[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.s = r.s[i+1:]
			return v
		}
	}
	r.fail("number without end")
	return 0
}

// Int takes a zigzag varint.
func (r *Reader) Int() int {
	u := r.Uint()
	return int(int64(u>>1) ^ -int64(u&1))
}

// Bool takes one byte.
func (r *Reader) Bool() bool {
	b := r.Raw(1)
	return b != "" && b[0] != 0
}

// String takes length and bytes.
func (r *Reader) String() string {
	n := r.Uint()
	if n > uint64(len(r.s)) {
		r.fail("string of %d bytes, %d left", n, len(r.s))
		return ""
	}
	return r.Raw(int(n))
}

// Len takes the length of a list of which each element has at least one byte; isNil tells nil from empty.
func (r *Reader) Len() (n int, isNil bool) {
	v := r.Uint()
	if v == 0 {
		return 0, true
	}
	if v-1 > uint64(len(r.s)) {
		r.fail("list of %d elements, %d bytes left", v-1, len(r.s))
		return 0, true
	}
	return int(v - 1), false
}

// Strings takes a list; nil and empty stay apart.
func (r *Reader) Strings() []string {
	n, isNil := r.Len()
	if isNil {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.String()
	}
	return list
}

// Float64 takes eight bytes.
func (r *Reader) Float64() float64 {
	b := r.Raw(8)
	if b == "" {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
}

// Time takes an instant with its zone offset.
func (r *Reader) Time() time.Time {
	var t time.Time
	if b := r.String(); b != "" {
		if err := t.UnmarshalBinary([]byte(b)); err != nil {
			r.fail("time: %v", err)
		}
	}
	return t
}

// Map takes a map; nil and empty stay apart.
func (r *Reader) Map() map[string]any {
	n, isNil := r.Len()
	if isNil {
		return nil
	}
	m := make(map[string]any, n)
	for range n {
		k := r.String()
		kind := r.Raw(1)
		if r.err != nil {
			return nil
		}
		switch kind[0] {
		case kindString:
			m[k] = r.String()
		case kindFloat64:
			m[k] = r.Float64()
		case kindFalse, kindTrue:
			m[k] = kind[0] == kindTrue
		case kindStrings:
			m[k] = r.Strings()
		default:
			r.fail("value kind %q", kind)
		}
	}
	return m
}

// ReadFloat32s decodes len(dst) numbers from the tail of a record.
func ReadFloat32s(dst []float32, tail []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(tail[4*i:]))
	}
}
