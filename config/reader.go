package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// reader turns YAML nodes into values for encoding/json, checked against the type that will hold them.
type reader struct {
	file    string
	lookup  func(string) (string, bool) // nil: texts stay as they are
	origins map[string]Origin           // by path: "retrieval.top_k", "transforms.0.provider"
	lines   map[string]int              // of keys and of elements of lists, by path
	secrets []string                    // values of variables in texts that may be secrets
}

var (
	providerType = reflect.TypeFor[rag.ProviderConfig]()
	rawType      = reflect.TypeFor[json.RawMessage]() // a section that its package reads
)

func (r *reader) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %w", r.file, n.Line, fmt.Sprintf(format, args...), rag.ErrInvalid)
}

// value reads a node for a value of type t; nil stands for any type. A null gives nil: the default stays.
func (r *reader) value(n *yaml.Node, t reflect.Type, path string) (any, error) {
	if n.Kind == yaml.AliasNode {
		return nil, r.errorf(n, "aliases are not supported: write the value out")
	}
	if n.ShortTag() == "!!null" {
		return nil, nil
	}
	switch {
	case t == nil:
		return r.free(n, path)
	case t == rawType:
		if n.Kind != yaml.MappingNode {
			return nil, r.errorf(n, "%s: want keys and values, got %s", at(path), describe(n))
		}
		if len(n.Content) == 0 {
			return nil, nil // as if it were not there
		}
		return r.free(n, path)
	case t == providerType:
		return r.provider(n, path)
	case t.Kind() == reflect.Pointer:
		return r.value(n, t.Elem(), path)
	case t.Kind() == reflect.Struct:
		return r.object(n, t, path)
	case t.Kind() == reflect.Map && t.Elem() == rawType:
		return r.settingsByName(n, path)
	case t.Kind() == reflect.Map:
		return r.byName(n, t.Elem(), path)
	case t.Kind() == reflect.Interface:
		return r.free(n, path)
	case t.Kind() == reflect.Slice:
		return r.list(n, t.Elem(), path)
	}
	return r.scalar(n, t, path)
}

// pair is a key of a mapping with its value.
type pair struct {
	key   string
	node  *yaml.Node // of the key
	value *yaml.Node
}

// pairs returns the keys of a mapping in their order.
func (r *reader) pairs(n *yaml.Node, path string) ([]pair, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.errorf(n, "%s: want keys and values, got %s", at(path), describe(n))
	}
	var all []pair
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" {
			return nil, r.errorf(k, "%s: a key must be a plain name", at(path))
		}
		if line, twice := first[k.Value]; twice {
			return nil, r.errorf(k, "key %q is given twice, first in line %d", join(path, k.Value), line)
		}
		first[k.Value] = k.Line
		r.lines[join(path, k.Value)] = k.Line
		all = append(all, pair{k.Value, k, v})
	}
	return all, nil
}

func (r *reader) object(n *yaml.Node, t reflect.Type, path string) (any, error) {
	pairs, err := r.pairs(n, path)
	if err != nil {
		return nil, err
	}
	fields, names := fieldsOf(t)
	out := map[string]any{}
	for _, p := range pairs {
		field, ok := fields[p.key]
		if !ok {
			return nil, r.errorf(p.node, "unknown key %q%s (known: %s)", join(path, p.key), rag.DidYouMean(p.key, names), strings.Join(names, ", "))
		}
		v, err := r.value(p.value, field.Type, join(path, p.key))
		if err != nil {
			return nil, err
		}
		if err := r.inRange(p.value, field, v, join(path, p.key)); err != nil {
			return nil, err
		}
		if v != nil {
			out[p.key] = v
		}
	}
	return out, nil
}

// inRange reports a number outside of the interval that its field names. In a file 0 stands for nothing but itself, so it is
// wrong where the default is another number, which the engine would take in its place.
func (r *reader) inRange(n *yaml.Node, field reflect.StructField, v any, path string) error {
	interval, ok := strict.IntervalOf(field)
	if !ok || v == nil {
		return nil
	}
	x, _ := v.(float64)
	if i, whole := v.(int64); whole {
		x = float64(i)
	}
	if interval.Has(x) {
		return nil
	}
	if r.origins[path].Env != "" { // it may be a secret
		return r.errorf(n, "%s: want %s %s, got another", path, kindName(field.Type), interval)
	}
	return r.errorf(n, "%s: %s", path, interval.Want(kindName(field.Type), x))
}

// fieldsOf returns a struct's fields by JSON name, and the names in order.
func fieldsOf(t reflect.Type) (map[string]reflect.StructField, []string) {
	fields := map[string]reflect.StructField{}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = t.Field(i)
		names = append(names, name)
	}
	return fields, names
}

// provider reads the name of a provider, or its name with settings. What settings there are is for the provider to say.
func (r *reader) provider(n *yaml.Node, path string) (any, error) {
	if n.Kind == yaml.ScalarNode {
		return r.scalar(n, reflect.TypeFor[string](), join(path, "provider"))
	}
	pairs, err := r.pairs(n, path)
	if err != nil {
		return nil, err
	}
	if err := r.namesProvider(pairs, path); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, p := range pairs {
		var t reflect.Type
		if p.key == providerKey {
			t = reflect.TypeFor[string]()
		}
		v, err := r.value(p.value, t, join(path, p.key))
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[p.key] = v
		}
	}
	return out, nil
}

// providerKey is the key of a provider's name among its settings.
const providerKey = "provider"

// namesProvider reports settings that nothing would read, since no provider is named and none is the default, and a key that
// is meant to name one, by its spelling.
func (r *reader) namesProvider(pairs []pair, path string) error {
	for _, p := range pairs {
		if p.key == providerKey && p.value.ShortTag() != "!!null" {
			return nil
		}
	}
	for _, p := range pairs {
		if near := rag.DidYouMean(p.key, []string{providerKey}); near != "" && p.key != providerKey {
			return r.errorf(p.node, "unknown key %q%s", join(path, p.key), near)
		}
	}
	if len(pairs) > 0 && slices.Contains(noneByDefault, path) {
		return r.errorf(pairs[0].node, "%s: there are settings, and no provider is named: add the key %s", path, providerKey)
	}
	return nil
}

// noneByDefault are the slots that are empty where the file names no provider.
var noneByDefault = func() (paths []string) {
	c := reflect.ValueOf(rag.DefaultConfig())
	for i := range c.NumField() {
		if p, ok := c.Field(i).Interface().(rag.ProviderConfig); ok && p.Provider == rag.None {
			name, _, _ := strings.Cut(c.Type().Field(i).Tag.Get("json"), ",")
			paths = append(paths, name)
		}
	}
	return paths
}()

// byName reads a mapping whose keys are anyone's.
func (r *reader) byName(n *yaml.Node, elem reflect.Type, path string) (any, error) {
	pairs, err := r.pairs(n, path)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, p := range pairs {
		if out[p.key], err = r.value(p.value, elem, join(path, p.key)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// settingsByName reads settings of several providers by their names; "none" leaves one out.
func (r *reader) settingsByName(n *yaml.Node, path string) (any, error) {
	pairs, err := r.pairs(n, path)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	out := map[string]any{}
	for _, p := range pairs {
		if p.value.Kind != yaml.MappingNode && p.value.Value != rag.None {
			return nil, r.errorf(p.value, "%s: want keys and values, or %s, got %s", join(path, p.key), rag.None, describe(p.value))
		}
		if out[p.key], err = r.free(p.value, join(path, p.key)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *reader) list(n *yaml.Node, elem reflect.Type, path string) (any, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, r.errorf(n, "%s: want a list, got %s", at(path), describe(n))
	}
	out := []any{}
	for i, e := range n.Content {
		r.lines[join(path, strconv.Itoa(i))] = e.Line
		v, err := r.value(e, elem, join(path, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		if settings, ok := v.(map[string]any); elem == providerType && (v == nil || ok && settings["provider"] == nil) {
			return nil, r.errorf(e, "%s.%d: the key provider is missing", path, i)
		}
		out = append(out, v)
	}
	r.origins[path] = Origin{File: r.file, Line: n.Line}
	return out, nil
}

// free reads a value whose type only its provider knows.
func (r *reader) free(n *yaml.Node, path string) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		pairs, err := r.pairs(n, path)
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		for _, p := range pairs {
			if out[p.key], err = r.value(p.value, nil, join(path, p.key)); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.SequenceNode:
		return r.list(n, nil, path)
	}
	kinds := map[string]reflect.Type{
		"!!bool": reflect.TypeFor[bool](), "!!int": reflect.TypeFor[int64](), "!!float": reflect.TypeFor[float64](),
		"!!str": reflect.TypeFor[string](), "!!timestamp": reflect.TypeFor[string](),
	}
	t, ok := kinds[n.ShortTag()]
	if !ok {
		return nil, r.errorf(n, "%s: a value with the tag %s cannot be read", at(path), n.ShortTag())
	}
	return r.scalar(n, t, path)
}

// scalar reads one value. A text that holds variables is expanded first and then read as the type asks.
func (r *reader) scalar(n *yaml.Node, t reflect.Type, path string) (any, error) {
	if n.Kind != yaml.ScalarNode {
		return nil, r.errorf(n, "%s: want %s, got %s", at(path), kindName(t), describe(n))
	}
	origin := Origin{File: r.file, Line: n.Line}
	text, tag := n.Value, n.ShortTag()
	if tag == "!!str" && r.lookup != nil {
		var err error
		var values []string
		if text, origin.Env, values, err = expand(text, r.lookup); err != nil {
			return nil, r.errorf(n, "%s: %v", at(path), err)
		}
		if t.Kind() == reflect.String && !isPlain(path) {
			r.secrets = append(r.secrets, values...)
		}
		if text != n.Value && n.Style == 0 && t.Kind() != reflect.String {
			tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: text}).ShortTag()
		}
	}
	v, ok := convert(text, tag, t.Kind())
	if want, got := kindName(t), tagName(tag); !ok {
		if got == want { // .nan, .inf, and whole numbers of more than 64 bits
			got = "one that is too large, or is none"
		}
		return nil, r.errorf(n, "%s: want %s, got %s", at(path), want, got)
	}
	r.origins[path] = origin
	return v, nil
}

// convert reads a scalar of this tag as a value of this kind.
func convert(text, tag string, kind reflect.Kind) (any, bool) {
	node := yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	switch {
	case kind == reflect.String && (tag == "!!str" || tag == "!!timestamp"):
		return text, true
	case kind == reflect.Bool && tag == "!!bool":
		var v bool
		ok := node.Decode(&v) == nil
		return v, ok
	case (kind == reflect.Int || kind == reflect.Int64) && tag == "!!int":
		var v int64
		ok := node.Decode(&v) == nil
		return v, ok
	case kind == reflect.Float64 && (tag == "!!float" || tag == "!!int"):
		var v float64
		ok := node.Decode(&v) == nil
		return v, ok && !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	return nil, false
}

// Names for messages. They never hold a value: it may be a secret.

func at(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	return tagName(n.ShortTag())
}

func tagName(tag string) string {
	switch tag {
	case "!!str":
		return "a text"
	case "!!int":
		return "a whole number"
	case "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	}
	return "a value with the tag " + tag
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a text"
}
