package strict

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// rangeTag is the key of a struct tag that says which numbers a field may have: "[1,10000]", or "(0,1]" without its least, or
// "[-1,10] but 0" where 0 stands for another number.
const rangeTag = "range"

// butZero is the end of a tag whose interval lacks the zero in its midst.
const butZero = " but 0"

// Interval is the numbers from Least to Most.
type Interval struct {
	Least, Most float64
	Above       bool // Least itself is not in it
	ButZero     bool // nor is 0
}

// IntervalOf returns the interval of a field; ok is false if its tag names none. A tag that cannot be read panics: it is part
// of the program.
func IntervalOf(f reflect.StructField) (i Interval, ok bool) {
	tag, ok := f.Tag.Lookup(rangeTag)
	if !ok {
		return i, false
	}
	numbers, butZero := strings.CutSuffix(tag, butZero)
	least, most, cut := strings.Cut(strings.TrimSuffix(strings.TrimLeft(numbers, "[("), "]"), ",")
	var wrong, wrongToo error
	i.ButZero = butZero
	i.Above = strings.HasPrefix(tag, "(")
	i.Least, wrong = strconv.ParseFloat(least, 64)
	i.Most, wrongToo = strconv.ParseFloat(most, 64)
	if !cut || wrong != nil || wrongToo != nil || !(i.Least < i.Most) || !strings.HasSuffix(numbers, "]") {
		panic("strict: the field " + f.Name + " has the range " + tag)
	}
	return i, true
}

// Has reports whether x is in the interval; NaN never is.
func (i Interval) Has(x float64) bool {
	return x <= i.Most && (x > i.Least || x == i.Least && !i.Above) && !(x == 0 && i.ButZero)
}

// String returns "from 1 to 10000", "above 0, at most 1" or "from -1 to 10 but not 0".
func (i Interval) String() string {
	switch {
	case i.Above:
		return "above " + number(i.Least) + ", at most " + number(i.Most)
	case i.ButZero:
		return "from " + number(i.Least) + " to " + number(i.Most) + " but not 0"
	}
	return "from " + number(i.Least) + " to " + number(i.Most)
}

// Want says what is wrong with a number of a kind, see [KindOf].
func (i Interval) Want(kind string, x float64) string {
	if x == 0 { // whoever writes it means what it says, and would get something else
		return fmt.Sprintf("want %s %s, got 0: leave the key out for the default", kind, i)
	}
	return fmt.Sprintf("want %s %s, got %s", kind, i, number(x))
}

// number writes whole numbers without an exponent.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Check returns the first number, in the order of the fields, that is outside of the interval of its field; nil if there is
// none. The zero value of a field stands for its default, and is not looked at unless a pointer leads to it.
func Check(v any) *Error { return checker{IntervalOf}.value(reflect.ValueOf(v), "") }

// CheckSettings is Check where a number without an interval of its own may not be absurd either: more than a thousand million,
// or a trillion (10^12, as bytes a terabyte) of an int64, or a million of a float64, below zero as above. Nor may a zero be
// written out in data, from which v was read, that is outside of the interval of its field: it would be the default.
func CheckSettings(data []byte, v any) *Error {
	if wrong := writtenZero(data, reflect.TypeOf(v)); wrong != nil {
		return wrong
	}
	return checker{func(f reflect.StructField) (Interval, bool) {
		if i, ok := IntervalOf(f); ok {
			return i, true
		}
		most, ok := map[reflect.Kind]float64{reflect.Int: 1e9, reflect.Int64: 1e12, reflect.Float64: 1e6}[f.Type.Kind()]
		return Interval{Least: -most, Most: most}, ok
	}}.value(reflect.ValueOf(v), "")
}

// checker looks for numbers outside of the intervals of their fields.
type checker struct {
	intervalOf func(reflect.StructField) (Interval, bool)
}

func (c checker) value(v reflect.Value, path string) *Error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return c.value(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice:
		default:
			return nil // texts and bytes, of which there may be many
		}
		for i := range v.Len() {
			if wrong := c.value(v.Index(i), join(path, strconv.Itoa(i))); wrong != nil {
				return wrong
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if wrong := c.field(v.Type().Field(i), v.Field(i), path); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

func (c checker) field(f reflect.StructField, v reflect.Value, path string) *Error {
	name := nameOf(f)
	if !f.IsExported() && !f.Anonymous || name == "-" {
		return nil
	}
	if name != "" {
		path = join(path, name)
	}
	interval, ok := c.intervalOf(f)
	if !ok {
		return c.value(v, path)
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	} else if v.IsZero() {
		return nil
	}
	var x float64
	switch {
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	default:
		x = v.Float()
	}
	if interval.Has(x) {
		return nil
	}
	return &Error{path, interval.Want(KindOf(v.Type()), x)}
}

// writtenZero finds a zero in data that is outside of the interval of its field.
func writtenZero(data []byte, t reflect.Type) *Error {
	return walk(data, t, "", func(fields map[string]reflect.StructField, key, path string, value json.RawMessage) *Error {
		f, known := fieldOf(fields, key)
		if !known {
			return nil
		}
		interval, ok := IntervalOf(f)
		x := 1.0
		zero := json.Unmarshal(value, &x) == nil && x == 0 // null leaves it as it is
		if !ok || !zero || interval.Has(0) {
			return nil
		}
		return &Error{path, interval.Want(KindOf(f.Type), 0)}
	})
}
