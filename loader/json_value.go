package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// jsonKind is the kind of a JSON value.
type jsonKind uint8

const (
	jsonScalar jsonKind = iota // number, true, false, null
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is a JSON value with the fields of objects in the order they are written.
type jsonValue struct {
	kind  jsonKind
	text  string      // of a string or scalar; "" for null
	names []string    // of an object's fields
	items []jsonValue // of an array, or the fields of an object
}

// field returns a field of an object.
func (v jsonValue) field(name string) (jsonValue, bool) {
	for i, n := range v.names {
		if n == name {
			return v.items[i], true
		}
	}
	return jsonValue{}, false
}

// flat reports whether a value holds no others.
func (v jsonValue) flat() bool { return v.kind == jsonScalar || v.kind == jsonString }

// plain returns the value as package json would, but for numbers, which are float64 where that is exact enough.
func (v jsonValue) plain() any {
	switch v.kind {
	case jsonString:
		return v.text
	case jsonArray:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.plain()
		}
		return list
	case jsonObject:
		m := make(map[string]any, len(v.items))
		for i, name := range v.names {
			m[name] = v.items[i].plain()
		}
		return m
	}
	var scalar any
	if json.Unmarshal([]byte(v.text), &scalar) != nil { // null, or a number beyond float64
		return nil
	}
	return scalar
}

// Bounds of one value: of nesting, and of values within, each of which takes about a hundred bytes.
const (
	maxJSONDepth  = 200
	maxJSONValues = 2 << 20
)

// jsonReader reads the values of a text one after the other.
type jsonReader struct {
	ctx    context.Context //nolint:containedctx // lives as long as one Load
	text   string
	dec    *json.Decoder
	values int
}

func newJSONReader(ctx context.Context, text string) *jsonReader {
	dec := json.NewDecoder(source.Reader(ctx, strings.NewReader(text)))
	dec.UseNumber()
	return &jsonReader{ctx: ctx, text: text, dec: dec}
}

// next returns the next value; io.EOF behind the last.
func (r *jsonReader) next() (jsonValue, error) {
	r.values = 0
	tok, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return jsonValue{}, io.EOF
	}
	if err == nil {
		v, verr := r.value(tok, 0)
		if verr == nil {
			return v, nil
		}
		err = verr
	}
	if r.ctx.Err() != nil {
		return jsonValue{}, r.ctx.Err()
	}
	if errors.Is(err, rag.ErrInvalid) {
		return jsonValue{}, err
	}
	line := 1 + strings.Count(r.text[:min(int(r.dec.InputOffset()), len(r.text))], "\n")
	return jsonValue{}, fmt.Errorf("no JSON at line %d (%v): %w", line, err, rag.ErrInvalid)
}

// value returns the value that begins with a token.
func (r *jsonReader) value(tok json.Token, depth int) (v jsonValue, err error) {
	if r.values++; r.values > maxJSONValues || depth > maxJSONDepth {
		return v, fmt.Errorf("more than %d values in one, or nested deeper than %d: write records one to a line: %w", maxJSONValues, maxJSONDepth, rag.ErrInvalid)
	}
	switch t := tok.(type) {
	case json.Delim:
		return r.container(t, depth)
	case string:
		return jsonValue{kind: jsonString, text: t}, nil
	case nil:
		return jsonValue{}, nil
	}
	return jsonValue{text: fmt.Sprint(tok)}, nil
}

// container reads an array or object to its end.
func (r *jsonReader) container(open json.Delim, depth int) (jsonValue, error) {
	v := jsonValue{kind: jsonArray}
	if open == '{' {
		v.kind = jsonObject
	}
	for r.dec.More() {
		if v.kind == jsonObject {
			name, err := r.dec.Token()
			if err != nil {
				return v, err
			}
			v.names = append(v.names, fmt.Sprint(name))
		}
		tok, err := r.dec.Token()
		if err != nil {
			return v, err
		}
		item, err := r.value(tok, depth+1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	_, err := r.dec.Token() // the closing bracket
	return v, err
}
