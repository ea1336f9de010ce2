// Package strict reads JSON into structs and says what is wrong with it in words for people: where, what is wanted, and what
// is there, without names of Go types.
package strict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Error is what is wrong with a value.
type Error struct {
	Field   string // its place, "session.turns" or "labels.0.name"; "": the whole value
	Message string // "want a whole number, got a text"; it shows no text of the value, which may be a secret
}

// Error returns "field: message".
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Decode reads one JSON value into what into points to. A key that no field has, a value of the wrong kind, a number outside
// of the interval of its field (see [Check]), and anything behind the value are an *Error.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) { // encoding/json would put other characters in place of what is wrong
		return &Error{Message: "it is not UTF-8"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return explain(err, data, reflect.TypeOf(into).Elem())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &Error{Message: "something follows the value: one is read"}
	}
	wrong := Check(into)
	if wrong == nil {
		return nil
	}
	return wrong
}

// Unmarshal is json.Unmarshal whose errors say in words what is wrong. Keys that no field has are passed over, as are intervals:
// it is for what other programs wrote.
func Unmarshal(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return explain(err, data, reflect.TypeOf(into).Elem())
	}
	return nil
}

// explain says in words what encoding/json found in data, which was to be of type t. Errors of types that read themselves
// stay as they are.
func explain(err error, data []byte, t reflect.Type) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if wrong := unknown(data, t); wrong != nil {
			return wrong
		}
		return &Error{strings.Trim(name, `"`), "unknown key"} // inside of a type that reads itself
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		keys, interval, ok := place(kind.Field, t)
		want := KindOf(kind.Type)
		if ok {
			want += " " + interval.String()
		}
		return &Error{keys, fmt.Sprintf("want %s, got %s", want, got(kind.Value))}
	case errors.As(err, &syntax):
		if strings.HasPrefix(syntax.Error(), "unexpected end") {
			return &Error{"", "no whole JSON value: it ends too early"}
		}
		return &Error{"", fmt.Sprintf("no JSON, at byte %d: %s", syntax.Offset, strings.TrimPrefix(syntax.Error(), "json: "))}
	case errors.Is(err, io.EOF):
		return &Error{"", "there is no JSON value"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{"", "no whole JSON value: it ends too early"}
	}
	if wrong := unreadable(data, t); wrong != nil {
		return wrong
	}
	return err
}

// inWords says what is wanted of texts that stand for something else.
var inWords = map[reflect.Type]string{
	reflect.TypeFor[time.Time](): "a day with a time such as 2026-12-31T12:00:00Z",
	reflect.TypeFor[[]byte]():    "bytes in base64",
}

// unreadable finds the text that is none of inWords where one is due.
func unreadable(data []byte, t reflect.Type) *Error {
	return walk(data, t, "", func(fields map[string]reflect.StructField, key, path string, value json.RawMessage) *Error {
		f, known := fieldOf(fields, key)
		if !known {
			return nil
		}
		in := f.Type
		for in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		want, ok := inWords[in]
		if !ok || json.Unmarshal(value, reflect.New(in).Interface()) == nil {
			return nil
		}
		is := "another text"
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(value, new(string))); ok {
			is = got(kind.Value)
		}
		return &Error{path, "want " + want + ", got " + is}
	})
}

// place returns a path without the names of embedded structs, which encoding/json has in it and the JSON has not, and the
// interval of the field it leads to, if that has one.
func place(path string, t reflect.Type) (keys string, interval Interval, ok bool) {
	var all []string
	for key := range strings.SplitSeq(path, ".") {
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
			t = t.Elem()
		}
		ok = false
		if t != nil && t.Kind() == reflect.Struct {
			if f, is := t.FieldByName(key); is && f.Anonymous && nameOf(f) == "" {
				t = f.Type
				continue
			}
			f, _ := fieldOf(fieldsOf(t), key)
			interval, ok = IntervalOf(f)
			t = f.Type
		}
		all = append(all, key)
	}
	return strings.Join(all, "."), interval, ok
}

// unknown finds the first key, in the order of the alphabet, that the struct it would be read into does not have.
func unknown(raw json.RawMessage, t reflect.Type) *Error {
	return walk(raw, t, "", func(fields map[string]reflect.StructField, key, path string, _ json.RawMessage) *Error {
		if _, known := fieldOf(fields, key); known {
			return nil
		}
		names := slices.Sorted(maps.Keys(fields))
		return &Error{path, "unknown key" + DidYouMean(key, names) + " (" + list(names) + ")"}
	})
}

// walk shows visit each key of raw that is read into a struct, in the order of the alphabet and from outside inwards, with its
// value, until one is wrong. Types that read themselves keep their keys.
func walk(raw json.RawMessage, t reflect.Type, path string, visit func(fields map[string]reflect.StructField, key, path string, value json.RawMessage) *Error) *Error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // what is no list has no keys
		for i, e := range list {
			if wrong := walk(e, t.Elem(), join(path, strconv.Itoa(i)), visit); wrong != nil {
				return wrong
			}
		}
	case reflect.Struct, reflect.Map:
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object)
		fields := fieldsOf(t)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			var in reflect.Type
			at := join(path, key)
			if t.Kind() == reflect.Map {
				in = t.Elem()
			} else if wrong := visit(fields, key, at, object[key]); wrong != nil {
				return wrong
			} else if f, known := fieldOf(fields, key); known {
				in = f.Type
			} else {
				continue
			}
			if wrong := walk(object[key], in, at, visit); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

// fieldsOf returns a struct's fields by JSON name.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := nameOf(f); {
		case name == "-":
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case f.IsExported():
			fields[cmp.Or(name, f.Name)] = f
		}
	}
	return fields
}

// fieldOf looks a key up as encoding/json does: in any case.
func fieldOf(fields map[string]reflect.StructField, key string) (reflect.StructField, bool) {
	if f, ok := fields[key]; ok {
		return f, true
	}
	for name, f := range fields {
		if strings.EqualFold(name, key) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// nameOf is the JSON name of a field; "" if it has no tag.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func list(names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return "known: " + strings.Join(names, ", ")
}

// kinds are values in words, by encoding/json's name for their kind.
var kinds = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "keys and values"}

// got says what a value is: a number is shown, a text is not.
func got(value string) string {
	const most = 40 // of the bytes of a number
	if len(value) > most {
		value = value[:most] + "…"
	}
	return cmp.Or(kinds[value], "the "+value) // "number 1.5"
}

// KindOf says what a value of a type is, such as "a whole number".
func KindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return KindOf(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "keys and values"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number that is not negative"
	}
	return "a whole number"
}
