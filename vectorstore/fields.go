package vectorstore

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
)

// fields is an inverted index over what filters look at: for each value of each field, the slots that have it. A filter
// becomes a set of slots without looking at a record; [rag.Filter.Match] is the reference it agrees with. Slots of
// records that are gone stay in until forget; the caller masks them.
type fields struct {
	slots    int // all are below
	byName   map[string]*field
	validity map[interval]*posting // records that are not valid for ever
}

// field is the index of one field.
type field struct {
	present posting // also where the list of values is empty
	texts   *values[string]
	numbers *values[number]
	bools   [2]posting // false, true
}

// number is a float64 as a key of a map: == on floats would lose NaN.
type number uint64

func numberOf(x float64) number {
	switch {
	case x == 0:
		return 0 // -0 equals 0
	case math.IsNaN(x):
		return number(math.Float64bits(math.NaN()))
	}
	return number(math.Float64bits(x))
}

func (n number) float() float64 { return math.Float64frombits(uint64(n)) }

func compareNumbers(a, b number) int { return cmp.Compare(a.float(), b.float()) }

// interval is a validity whose bounds are in UTC, so that equal instants are equal keys.
type interval struct{ from, until time.Time }

func newFields() *fields {
	return &fields{byName: map[string]*field{}, validity: map[interval]*posting{}}
}

// add notes what the record in a slot has.
func (f *fields) add(slot uint32, meta rag.Meta, v rag.Validity) {
	f.slots = max(f.slots, int(slot)+1)
	if !v.From.IsZero() || !v.Until.IsZero() {
		f.interval(interval{v.From.UTC(), v.Until.UTC()}).add(slot, f.slots)
	}
	for name, value := range meta {
		x := f.field(name)
		x.present.add(slot, f.slots)
		switch value := value.(type) {
		case string:
			x.text(value).add(slot, f.slots)
		case []string:
			for _, s := range value {
				x.text(s).add(slot, f.slots)
			}
		case float64:
			x.number(value).add(slot, f.slots)
		case bool:
			x.bool(value).add(slot, f.slots)
		}
	}
}

// field makes the index of a field where it is missing.
func (f *fields) field(name string) *field {
	x := f.byName[name]
	if x == nil {
		x = &field{texts: newValues(strings.Compare), numbers: newValues(compareNumbers)}
		f.byName[strings.Clone(name)] = x // the name read from a record would keep the whole of it
	}
	return x
}

func (f *fields) interval(v interval) *posting {
	p := f.validity[v]
	if p == nil {
		p = &posting{}
		f.validity[v] = p
	}
	return p
}

func (x *field) text(s string) *posting { return x.texts.posting(s, strings.Clone) }

func (x *field) number(n float64) *posting {
	return x.numbers.posting(numberOf(n), func(n number) number { return n })
}

func (x *field) bool(b bool) *posting {
	if b {
		return &x.bools[1]
	}
	return &x.bools[0]
}

// forget takes slots out, so that they can be used again.
func (f *fields) forget(gone bitset.Set) {
	for v, p := range f.validity {
		if !p.forget(gone) {
			delete(f.validity, v)
		}
	}
	for name, x := range f.byName {
		x.texts.forget(gone)
		x.numbers.forget(gone)
		x.bools[0].forget(gone)
		x.bools[1].forget(gone)
		if !x.present.forget(gone) {
			delete(f.byName, name)
		}
	}
}

// resolve returns the slots among live whose records a valid filter matches; the set is the caller's.
func (f *fields) resolve(filter rag.Filter, live bitset.Set) bitset.Set {
	set := f.match(filter, live)
	set.And(live)
	return set
}

// match may have slots that are not live.
func (f *fields) match(filter rag.Filter, live bitset.Set) bitset.Set {
	set := bitset.New(max(len(live)*bitset.WordBits, f.slots))
	switch filter.Op {
	case rag.OpAll:
		set.Or(live)
	case rag.OpNot:
		set.Or(live)
		set.AndNot(f.match(filter.Args[0], live))
	case rag.OpAnd:
		set.Or(live)
		for _, arg := range filter.Args {
			set.And(f.match(arg, live))
		}
	case rag.OpOr:
		for _, arg := range filter.Args {
			set.Or(f.match(arg, live))
		}
	case rag.OpValidAt:
		set.Or(live)
		set.AndNot(f.invalidAt(filter.At, len(set)))
	default:
		if x := f.byName[filter.Field]; x != nil {
			x.match(filter, set)
		}
	}
	return set
}

// invalidAt has the slots whose validity does not contain an instant.
func (f *fields) invalidAt(at time.Time, words int) bitset.Set {
	set := make(bitset.Set, words)
	for v, p := range f.validity {
		if !(rag.Validity{From: v.from, Until: v.until}).Contains(at) {
			p.into(set)
		}
	}
	return set
}

// match adds the slots that a condition on the field holds for.
func (x *field) match(filter rag.Filter, set bitset.Set) {
	switch filter.Op {
	case rag.OpExists:
		x.present.into(set)
	case rag.OpEq:
		x.equal(filter.Value, set)
	case rag.OpIn:
		for _, v := range filter.Values {
			x.equal(v, set)
		}
	case rag.OpPrefix:
		prefix, _ := filter.Value.(string)
		x.texts.between(
			func(s string) bool { return s < prefix },
			func(s string) bool { return !strings.HasPrefix(s, prefix) }, set)
	case rag.OpRange:
		x.within(*filter.Bounds, set)
	}
}

func (x *field) equal(value any, set bitset.Set) {
	switch value := value.(type) {
	case string:
		x.texts.equal(value, set)
	case float64:
		if !math.IsNaN(value) { // which equals nothing
			x.numbers.equal(numberOf(value), set)
		}
	case bool:
		x.bool(value).into(set)
	}
}

// within adds the slots with a value in the bounds, which are all strings or all numbers.
func (x *field) within(b rag.Bounds, set bitset.Set) {
	for _, bound := range []any{b.GT, b.GTE, b.LT, b.LTE} {
		switch bound.(type) {
		case string:
			x.texts.between(func(s string) bool { return b.Below(s) }, func(s string) bool { return b.Above(s) }, set)
			return
		case float64:
			x.numbers.between(
				func(n number) bool { return b.Below(n.float()) },
				func(n number) bool { return b.Above(n.float()) }, set)
			return
		}
	}
}
