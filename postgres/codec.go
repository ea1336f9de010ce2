package postgres

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// recordVersion is the version byte of all records. A record is a struct by the names of its fields, without those that
// have their zero value: a field that the struct gets later is zero in records of before, and one that it loses is passed
// over, so that the version stays.
const recordVersion = 1

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
	metaType  = reflect.TypeFor[rag.Meta]()
)

// encode makes a record of a struct. Metadata of a kind that cannot be kept is ErrInvalid.
func encode(v any) ([]byte, error) {
	w := record.NewWriter(recordVersion, 512)
	if err := encodeStruct(w, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	rec, err := w.Finish()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return rec, nil
}

func encodeStruct(w *record.Writer, v reflect.Value) error {
	fields := fieldsOf(v.Type())
	n := 0
	for _, f := range fields {
		if !v.Field(f.index).IsZero() {
			n++
		}
	}
	w.Uint(uint64(n))
	for _, f := range fields {
		x := v.Field(f.index)
		if x.IsZero() {
			continue
		}
		in := record.NewWriter(recordVersion, 64)
		if err := encodeValue(in, x); err != nil {
			return err
		}
		data, err := in.Fields()
		if err != nil {
			return fmt.Errorf("%s: %w: %w", f.name, err, rag.ErrInvalid)
		}
		w.String(f.name)
		w.String(data)
	}
	return nil
}

func encodeValue(w *record.Writer, v reflect.Value) error {
	switch v.Type() {
	case timeType:
		w.Time(v.Interface().(time.Time))
		return nil
	case bytesType:
		w.String(string(v.Bytes()))
		return nil
	case metaType:
		w.Map(v.Interface().(rag.Meta))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		w.String(v.String())
	case reflect.Bool:
		w.Bool(v.Bool())
	case reflect.Int, reflect.Int64:
		w.Int(int(v.Int()))
	case reflect.Float64:
		w.Float64(v.Float())
	case reflect.Struct:
		return encodeStruct(w, v)
	case reflect.Pointer: // not nil: that is a zero value
		return encodeValue(w, v.Elem())
	case reflect.Slice:
		w.Len(v.Len(), v.IsNil())
		return encodeEach(w, v)
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			w.Raw(b)
			return nil
		}
		return encodeEach(w, v)
	default:
		return fmt.Errorf("a %s cannot be kept: %w", v.Type(), rag.ErrUnsupported)
	}
	return nil
}

func encodeEach(w *record.Writer, v reflect.Value) error {
	for i := range v.Len() {
		if err := encodeValue(w, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// decode reads what encode made into a zero value of the same type.
func decode[T any](rec []byte) (v T, err error) {
	r, _, err := record.Open(rec, recordVersion)
	if err != nil {
		return v, fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	decodeStruct(r, reflect.ValueOf(&v).Elem())
	if err := r.Close(); err != nil {
		var zero T
		return zero, fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return v, nil
}

func decodeStruct(r *record.Reader, v reflect.Value) {
	byName := namesOf(v.Type())
	for range r.Uint() {
		name, data := r.String(), r.String()
		if name == "" { // the record ended too early; Close tells
			return
		}
		if index, known := byName[name]; known {
			decodeValue(record.NewReader(data), v.Field(index))
		}
	}
}

// decodeValue reads a value. The checksum of the record has told already whether it is whole.
func decodeValue(r *record.Reader, v reflect.Value) {
	switch v.Type() {
	case timeType:
		v.Set(reflect.ValueOf(r.Time()))
		return
	case bytesType:
		v.SetBytes([]byte(r.String()))
		return
	case metaType:
		v.Set(reflect.ValueOf(rag.Meta(r.Map())))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.String())
	case reflect.Bool:
		v.SetBool(r.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.Int()))
	case reflect.Float64:
		v.SetFloat(r.Float64())
	case reflect.Struct:
		decodeStruct(r, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		decodeValue(r, v.Elem())
	case reflect.Slice:
		if n, isNil := r.Len(); !isNil {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			decodeEach(r, v)
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			reflect.Copy(v, reflect.ValueOf([]byte(r.Raw(v.Len()))))
			return
		}
		decodeEach(r, v)
	}
}

func decodeEach(r *record.Reader, v reflect.Value) {
	for i := range v.Len() {
		decodeValue(r, v.Index(i))
	}
}

// structField is a field of a struct that is kept.
type structField struct {
	name  string
	index int
}

var known sync.Map // of []structField by reflect.Type

// fieldsOf lists the fields of a struct.
func fieldsOf(t reflect.Type) []structField {
	if have, ok := known.Load(t); ok {
		return have.([]structField)
	}
	fields := make([]structField, t.NumField())
	for i := range fields {
		fields[i] = structField{t.Field(i).Name, i}
	}
	known.Store(t, fields)
	return fields
}

func namesOf(t reflect.Type) map[string]int {
	fields := fieldsOf(t)
	names := make(map[string]int, len(fields))
	for _, f := range fields {
		names[f.name] = f.index
	}
	return names
}
