package rag

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// FilterOp is the operator of a [Filter].
type FilterOp string

// The operators. The zero operator matches everything.
const (
	OpAll     FilterOp = ""         // everything
	OpEq      FilterOp = "eq"       // field equals value; a list field: one of its elements does
	OpIn      FilterOp = "in"       // field equals one of values
	OpRange   FilterOp = "range"    // field lies in the bounds; see [Bounds]
	OpPrefix  FilterOp = "prefix"   // string field begins with value; a list field: one of its elements does
	OpExists  FilterOp = "exists"   // field is there
	OpValidAt FilterOp = "valid_at" // validity contains the instant; an open or unstated bound does not exclude
	OpAnd     FilterOp = "and"      // all args match; none: everything
	OpOr      FilterOp = "or"       // one of args matches; none: nothing
	OpNot     FilterOp = "not"      // the one arg does not match
)

// Filter is a condition on metadata and validity. It is data: it travels through JSON, YAML and other engines
// unchanged. The zero value matches everything. A field that a text does not have matches no condition on it (so
// Not(Eq(f, v)) matches texts without f).
type Filter struct {
	Op     FilterOp  `json:"op,omitempty"`
	Field  string    `json:"field,omitempty"`
	Value  any       `json:"value,omitempty"`  // eq, prefix: string, float64 or bool
	Values []any     `json:"values,omitempty"` // in
	Bounds *Bounds   `json:"bounds,omitempty"` // range
	At     time.Time `json:"at,omitzero"`      // valid_at
	Args   []Filter  `json:"args,omitempty"`   // and, or, not
}

// Bounds of a range; nil is open. Each is a string or a float64, all of one kind. Numbers are compared by size, strings by
// bytes, which suits ISO dates. A bound that is a day (2026-01-31) is compared with the first ten bytes of a value: the
// instants of that day are neither before nor after it, so LTE includes all of them and GT none. Time zones play no part:
// the day of an instant is the one it is written with.
type Bounds struct {
	GT  any `json:"gt,omitempty"`
	GTE any `json:"gte,omitempty"`
	LT  any `json:"lt,omitempty"`
	LTE any `json:"lte,omitempty"`
}

// Eq matches texts whose field equals the value.
func Eq(field string, value any) Filter { return Filter{Op: OpEq, Field: field, Value: scalar(value)} }

// In matches texts whose field equals one of the values.
func In(field string, values ...any) Filter {
	f := Filter{Op: OpIn, Field: field}
	for _, v := range values {
		f.Values = append(f.Values, scalar(v))
	}
	return f
}

// Range matches texts whose field lies in the bounds.
func Range(field string, b Bounds) Filter {
	return Filter{Op: OpRange, Field: field, Bounds: &Bounds{scalar(b.GT), scalar(b.GTE), scalar(b.LT), scalar(b.LTE)}}
}

// Prefix matches texts whose field begins with the value.
func Prefix(field, value string) Filter { return Filter{Op: OpPrefix, Field: field, Value: value} }

// Exists matches texts that have the field.
func Exists(field string) Filter { return Filter{Op: OpExists, Field: field} }

// ValidAt matches texts that are not out of force at t.
func ValidAt(t time.Time) Filter { return Filter{Op: OpValidAt, At: t} }

// And matches texts that all filters match.
func And(fs ...Filter) Filter {
	fs = slices.DeleteFunc(slices.Clone(fs), Filter.IsZero)
	if len(fs) == 1 {
		return fs[0]
	}
	if len(fs) == 0 {
		return Filter{}
	}
	return Filter{Op: OpAnd, Args: fs}
}

// Or matches texts that one of the filters matches.
func Or(fs ...Filter) Filter { return Filter{Op: OpOr, Args: fs} }

// Not matches texts that the filter does not match.
func Not(f Filter) Filter { return Filter{Op: OpNot, Args: []Filter{f}} }

// scalar turns the other number kinds into float64.
func scalar(v any) any {
	if c, err := cleanValue(v); err == nil {
		return c
	}
	return v
}

// IsZero reports whether the filter is the zero value, which matches everything.
func (f Filter) IsZero() bool { return f.Op == OpAll }

// UnmarshalJSON reads a filter strictly: an unknown key or operator is an error.
func (f *Filter) UnmarshalJSON(b []byte) error {
	type plain Filter
	var p plain
	if err := strict.Decode(b, &p); err != nil && !errors.Is(err, ErrInvalid) {
		return fmt.Errorf("filter: %w: %w", err, ErrInvalid)
	} else if err != nil { // of a filter inside
		return err
	}
	*f = Filter(p)
	return f.Validate()
}

var _ json.Unmarshaler = (*Filter)(nil)

// Validate reports ErrInvalid for an unknown operator, a missing part or a value of a kind that cannot be compared.
func (f Filter) Validate() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("filter %s: %s: %w", f.Op, fmt.Sprintf(format, a...), ErrInvalid)
	}
	switch f.Op {
	case OpEq, OpIn, OpRange, OpPrefix, OpExists:
		if f.Field == "" {
			return bad("no field named")
		}
	}
	switch f.Op {
	case OpAll, OpExists:
	case OpEq:
		if !isAskable(f.Value) {
			return bad("the value is a %[1]T (%[1]v), not a string, finite number or bool", f.Value)
		}
	case OpPrefix:
		if _, ok := f.Value.(string); !ok {
			return bad("the value is a %T, not a string", f.Value)
		}
	case OpIn:
		for _, v := range f.Values {
			if !isAskable(v) {
				return bad("a value is a %[1]T (%[1]v), not a string, finite number or bool", v)
			}
		}
	case OpRange:
		if f.Bounds == nil || *f.Bounds == (Bounds{}) {
			return bad("no bounds given")
		}
		strs, nums := 0, 0
		for _, b := range []any{f.Bounds.GT, f.Bounds.GTE, f.Bounds.LT, f.Bounds.LTE} {
			switch b := b.(type) {
			case nil:
			case string:
				strs++
			case float64:
				if nums++; b-b != 0 {
					return bad("a bound is %v, not a finite number", b)
				}
			default:
				return bad("a bound is a %T, not a string or number", b)
			}
		}
		if strs > 0 && nums > 0 {
			return bad("bounds mix strings and numbers")
		}
	case OpValidAt:
		if f.At.IsZero() {
			return bad("no instant given")
		}
	case OpAnd, OpOr, OpNot:
		if f.Op == OpNot && len(f.Args) != 1 {
			return bad("takes one argument, not %d", len(f.Args))
		}
		for _, a := range f.Args {
			if err := a.Validate(); err != nil {
				return err
			}
		}
	default:
		known := []string{"eq", "in", "range", "prefix", "exists", "valid_at", "and", "or", "not"}
		return fmt.Errorf("filter operator %q%s (known: %s): %w", f.Op, DidYouMean(string(f.Op), known), strings.Join(known, ", "), ErrInvalid)
	}
	return nil
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, float64, bool:
		return true
	}
	return false
}

// isAskable reports whether a filter may ask for a value. A number that is not finite has no form in JSON.
func isAskable(v any) bool {
	x, number := v.(float64)
	return isScalar(v) && (!number || x-x == 0)
}

// Match is the reference that every store's filtering is tested against. An invalid filter matches nothing.
func (f Filter) Match(m Meta, v Validity) bool {
	switch f.Op {
	case OpAll:
		return true
	case OpValidAt:
		return v.Contains(f.At)
	case OpAnd:
		return !slices.ContainsFunc(f.Args, func(a Filter) bool { return !a.Match(m, v) })
	case OpOr:
		return slices.ContainsFunc(f.Args, func(a Filter) bool { return a.Match(m, v) })
	case OpNot:
		return len(f.Args) == 1 && !f.Args[0].Match(m, v)
	}
	have, ok := m[f.Field]
	if !ok || have == nil {
		return false
	}
	if list, ok := have.([]string); ok {
		if f.Op == OpExists {
			return true
		}
		return slices.ContainsFunc(list, func(s string) bool { return f.matchScalar(s) })
	}
	return f.matchScalar(have)
}

func (f Filter) matchScalar(have any) bool {
	switch f.Op {
	case OpExists:
		return true
	case OpEq:
		return isScalar(have) && have == f.Value
	case OpIn:
		return isScalar(have) && slices.Contains(f.Values, have)
	case OpPrefix:
		s, ok := have.(string)
		p, isString := f.Value.(string)
		return ok && isString && strings.HasPrefix(s, p)
	case OpRange:
		return f.Bounds != nil && f.Bounds.Contain(have)
	}
	return false
}

// Contain reports whether a value lies in the bounds. One of another kind than the bounds does not, and none lies in no
// bounds.
func (b *Bounds) Contain(value any) bool {
	for _, bound := range []any{b.GT, b.GTE, b.LT, b.LTE} {
		if _, same := compareBound(value, bound); bound != nil && !same {
			return false
		}
	}
	return *b != (Bounds{}) && !b.Below(value) && !b.Above(value)
}

// Below reports whether a value of the bounds' kind lies below them. Of a sorted list of values those below come first.
func (b *Bounds) Below(value any) bool {
	gt, above := compareBound(value, b.GT)
	gte, from := compareBound(value, b.GTE)
	return above && gt <= 0 || from && gte < 0
}

// Above reports whether a value of the bounds' kind lies above them.
func (b *Bounds) Above(value any) bool {
	lt, below := compareBound(value, b.LT)
	lte, to := compareBound(value, b.LTE)
	return below && lt >= 0 || to && lte > 0
}

// compareBound compares a value with a bound; same is false if they are of different kinds, or there is no bound.
func compareBound(value, bound any) (c int, same bool) {
	switch bound := bound.(type) {
	case string:
		s, same := value.(string)
		if len(s) > len(bound) && isDay(bound) {
			s = s[:len(bound)]
		}
		return cmp.Compare(s, bound), same
	case float64:
		x, same := value.(float64)
		return cmp.Compare(x, bound), same
	}
	return 0, false
}
