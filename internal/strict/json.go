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

// explain says in words what encoding/json found in data, which was to be of type t. Errors of types that read themselves
// stay as they are.
func explain(err error, data []byte, t reflect.Type) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if wrong := unknown(data, t, ""); wrong != nil {
			return wrong
		}
		return &Error{strings.Trim(name, `"`), "unknown key"} // inside of a type that reads itself
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return &Error{withoutEmbedded(kind.Field, t), fmt.Sprintf("want %s, got %s", KindOf(kind.Type), got(kind.Value))}
	case errors.As(err, &syntax):
		return &Error{"", fmt.Sprintf("no JSON, at byte %d: %s", syntax.Offset, strings.TrimPrefix(syntax.Error(), "json: "))}
	case errors.Is(err, io.EOF):
		return &Error{"", "there is no JSON value"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{"", "no whole JSON value: it ends too early"}
	}
	return err
}

// withoutEmbedded takes the names of embedded structs out of a path: encoding/json has them there, and the JSON has not.
func withoutEmbedded(path string, t reflect.Type) string {
	var keys []string
	for key := range strings.SplitSeq(path, ".") {
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
			t = t.Elem()
		}
		if t != nil && t.Kind() == reflect.Struct {
			if f, ok := t.FieldByName(key); ok && f.Anonymous && nameOf(f) == "" {
				t = f.Type
				continue
			}
			t, _ = typeOf(fieldsOf(t), key)
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, ".")
}

// unknown finds the first key, in the order of the alphabet, that the struct it would be read into does not have.
func unknown(raw json.RawMessage, t reflect.Type, path string) *Error {
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
			if wrong := unknown(e, t.Elem(), join(path, strconv.Itoa(i))); wrong != nil {
				return wrong
			}
		}
	case reflect.Struct, reflect.Map:
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object)
		fields := fieldsOf(t)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			in, known := typeOf(fields, key)
			if t.Kind() == reflect.Map {
				in = t.Elem()
			} else if !known {
				names := slices.Sorted(maps.Keys(fields))
				return &Error{join(path, key), "unknown key" + DidYouMean(key, names) + " (" + list(names) + ")"}
			}
			if wrong := unknown(object[key], in, join(path, key)); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

// fieldsOf returns the types of a struct's fields by JSON name.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
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
			fields[cmp.Or(name, f.Name)] = f.Type
		}
	}
	return fields
}

// typeOf looks a key up as encoding/json does: in any case.
func typeOf(fields map[string]reflect.Type, key string) (reflect.Type, bool) {
	for name, t := range fields {
		if strings.EqualFold(name, key) {
			return t, true
		}
	}
	return nil, false
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
