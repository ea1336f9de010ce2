package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// Value is one value of a configuration in a form that may be shown.
type Value struct {
	Key    string `json:"key"`   // "retrieval.top_k"
	Value  any    `json:"value"` // for encoding/json; secrets are replaced by "***"
	Origin string `json:"origin"`
}

// Redacted returns every value of a configuration in the order of rag.Config, without secrets: hidden is what came
// from an environment variable, what stands under a key that names a secret (key, token, secret, password,
// credential, authorization) or under headers, and the user part and the values of the query of a URL. Of what a variable
// gave, numbers are shown, and what stands under a key that holds a name (provider, model, detail, mode). What is hidden in
// one place is shown in no other, nor is what looks like a key.
func Redacted(l Loaded) []Value {
	p := printer{loaded: l}
	p.walk(reflect.ValueOf(l.Config), "")
	hide := p.hider()
	for i, v := range p.values {
		if s, ok := v.Value.(string); ok { // also under a key that nobody knows
			p.values[i].Value = hide(s)
		}
	}
	return p.values
}

// plainKeys hold names that a reader of a trace or of a run wants to know, and that services themselves tell. A variable
// in them is there to choose, not to hide.
var plainKeys = []string{"provider", "model", "detail", "mode"}

// isPlain reports whether the value at a path is a name, and under no key of secrets.
func isPlain(path string) bool {
	return slices.Contains(plainKeys, path[strings.LastIndexByte(path, '.')+1:]) && !isSecret(path, "")
}

// printer collects values.
type printer struct {
	loaded  Loaded
	values  []Value
	secrets []string // texts that no value shows
}

func (p *printer) walk(v reflect.Value, path string) {
	switch x := v.Interface().(type) {
	case rag.ProviderConfig:
		p.add(join(path, "provider"), x.Provider)
		p.settings(x.Settings, path)
		return
	case json.RawMessage:
		p.settings(x, path)
		return
	case map[string]json.RawMessage:
		for _, name := range sortedKeys(x) {
			p.settings(x[name], join(path, name))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			p.walk(v.Field(i), join(path, name))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			p.add(path, []any{})
		}
		for i := range v.Len() {
			p.walk(v.Index(i), join(path, strconv.Itoa(i)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			p.walk(v.Elem(), path)
		}
	default:
		p.add(path, v.Interface())
	}
}

// settings adds the values of a provider's settings.
func (p *printer) settings(raw json.RawMessage, path string) {
	if len(raw) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		v = secret.Hidden // made by a program, not read by Load: it may hold anything
	}
	p.free(v, path)
}

func (p *printer) free(v any, path string) {
	switch x := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(x) {
			p.free(x[key], join(path, key))
		}
	case []any:
		if len(x) == 0 {
			p.add(path, x)
		}
		for i, e := range x {
			p.free(e, join(path, strconv.Itoa(i)))
		}
	default:
		p.add(path, v)
	}
}

func (p *printer) add(path string, v any) {
	origin := p.originOf(path)
	s, isText := v.(string)
	switch {
	case isSecret(path, v) || origin.Env != "" && isText && !isPlain(path):
		if isText {
			p.secrets = append(p.secrets, s)
		}
		v = secret.Hidden
	default:
		if isText {
			p.secrets = append(p.secrets, secret.InURL(s)...)
			v = secret.URL(s)
		}
	}
	p.values = append(p.values, Value{path, v, origin.String()})
}

// originOf returns the origin of a value, which for a part of a list may be that of the list.
func (p *printer) originOf(path string) Origin {
	for {
		if o, ok := p.loaded.origins[path]; ok {
			return o
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return Origin{}
		}
		path = path[:i]
	}
}

// isSecret reports whether a key on the path names a secret.
func isSecret(path string, v any) bool {
	_, isText := v.(string)
	return slices.ContainsFunc(strings.Split(path, "."), func(key string) bool { return secret.IsKey(key, isText) })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
