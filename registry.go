package rag

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// Env is what the engine hands a factory.
type Env struct {
	Dir      string       // data directory of the engine; "" for an engine that keeps nothing on disk
	Snapshot string       // data folder that a snapshot is taken of, only to be read; "": none is. Dir is an empty folder then, see WithSnapshot
	ModelDir string       // Config.ModelDir; "": none
	Logger   *slog.Logger // never nil
	Now      func() time.Time
	Embedder Embedder                 // nil while embedders, catalogs and stores are being made
	Tokens   TokenCounter             // tokens of Embedder; never nil where Embedder is set
	Chat     ChatModel                // nil if the engine has none
	Vision   ChatModel                // sees pictures; Chat if the engine has no other; nil if it has none
	Ingest   IngestConfig             // limits for loaders, defaults filled in
	OCR      OCR                      // for loaders; nil if the engine has none
	Getenv   func(name string) string // environment, for keys that no setting gives; nil: it is not to be read
}

// Factory makes a provider from its settings, a JSON object (nil: all defaults).
type Factory[T any] func(env Env, settings json.RawMessage) (T, error)

// Typed turns a function over a settings struct into a Factory. Unknown keys are ErrInvalid; the error lists the known ones.
func Typed[C, T any](f func(env Env, settings C) (T, error)) Factory[T] {
	return func(env Env, raw json.RawMessage) (T, error) {
		var settings C
		if err := decodeStrict(raw, &settings); err != nil {
			var zero T
			return zero, err
		}
		return f(env, settings)
	}
}

func decodeStrict(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	t := reflect.TypeOf(into).Elem()
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		known := keysBeside(raw, t, name)
		return fmt.Errorf("unknown setting %q%s (%s): %w", name, DidYouMean(name, known), listKnown(known), ErrInvalid)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		got := cmp.Or(jsonKinds[wrong.Value], "the "+wrong.Value) // the number 1.5; no text, which may be a secret
		return fmt.Errorf("%s: want %s, got %s: %w", cmp.Or(wrong.Field, "settings"), jsonKind(wrong.Type), got, ErrInvalid)
	}
	return fmt.Errorf("settings: %v (%s): %w", err, listKnown(jsonKeys(t)), ErrInvalid)
}

func listKnown(keys []string) string {
	if len(keys) == 0 {
		return "there are none"
	}
	return "known: " + strings.Join(keys, ", ")
}

// keysBeside returns the keys that a struct has, or the one inside it that an object with the unknown key was read into.
func keysBeside(raw json.RawMessage, t reflect.Type, unknown string) []string {
	var object map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	keys := jsonKeys(t)
	if _, here := object[unknown]; here {
		return keys
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if inside := keysBeside(object[name], t.Field(i).Type, unknown); inside != nil {
			return inside
		}
	}
	return nil
}

// jsonKinds says what a value is, by encoding/json's name for it.
var jsonKinds = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "keys and values"}

// jsonKind says what a field holds, in the words of package config.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
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

// jsonKeys returns the JSON names of a struct's fields, sorted.
func jsonKeys(t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var keys []string
	for i := range t.NumField() {
		if t.Field(i).Anonymous {
			keys = append(keys, jsonKeys(t.Field(i).Type)...)
			continue
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	sort.Strings(keys)
	return keys
}

// Registry maps names to factories of one slot. The zero value is empty and ready.
type Registry[T any] struct {
	mu        sync.RWMutex
	factories map[string]Factory[T]
	order     []string // of registration
}

// Register adds a factory. It panics if the name is empty or taken or the factory nil.
func (r *Registry[T]) Register(name string, f Factory[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" || f == nil {
		panic("rag: Register needs a name and a factory")
	}
	if _, taken := r.factories[name]; taken {
		panic("rag: provider " + name + " registered twice")
	}
	if r.factories == nil {
		r.factories = map[string]Factory[T]{}
	}
	r.factories[name] = f
	r.order = append(r.order, name)
}

// Names returns the registered names, sorted.
func (r *Registry[T]) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := slices.Clone(r.order)
	sort.Strings(names)
	return names
}

// inOrder returns the registered names in the order of registration.
func (r *Registry[T]) inOrder() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.order)
}

// New makes the provider of this name. An unknown name is ErrUnknownProvider; the error lists what is linked in.
func (r *Registry[T]) New(name string, env Env, settings json.RawMessage) (T, error) {
	f, err := r.find(name)
	if err != nil {
		var zero T
		return zero, err
	}
	return f(env, settings)
}

// find returns the factory of this name, or ErrUnknownProvider.
func (r *Registry[T]) find(name string) (Factory[T], error) {
	r.mu.RLock()
	f := r.factories[name]
	r.mu.RUnlock()
	if f != nil {
		return f, nil
	}
	names := r.Names()
	if where, ok := elsewhere[name]; ok {
		return nil, fmt.Errorf("%q is not linked into this program: %s (linked in: %s): %w", name, where, strings.Join(names, ", "), ErrUnknownProvider)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%q: this program links no provider of this kind; most come with `import _ \"github.com/seed-d8745b77/rag/defaults\"`: %w", name, ErrUnknownProvider)
	}
	return nil, fmt.Errorf("%q%s (linked in: %s): %w", name, DidYouMean(name, names), strings.Join(names, ", "), ErrUnknownProvider)
}

// elsewhere says of providers that package defaults does not link where they are, and what to use instead.
var elsewhere = map[string]string{
	"multilingual": "it comes with `import _ \"github.com/seed-d8745b77/rag/embed/local/multilingual\"`, which adds 31 MB; " +
		"without it `provider: local` with `model: multilingual-e5-small` knows the same languages and more, after `rag models pull multilingual-e5-small`",
	"postgres": "it is a module of its own, github.com/seed-d8745b77/rag/postgres, for programs that import it",
	"hugot": "it is a module of its own, github.com/seed-d8745b77/rag/embed/hugot or …/rerank/hugot; " +
		"without it `provider: local` runs most models of the BERT family from a folder",
	"otel": "it is a module of its own, github.com/seed-d8745b77/rag/trace/otel; " +
		"without it `provider: jsonl` keeps traces in the data folder",
}

// Providers holds one registry per slot of the engine.
type Providers struct {
	Loaders       Registry[Loader]
	OCRs          Registry[OCR]
	Splitters     Registry[Splitter]
	Transformers  Registry[Transformer]
	Embedders     Registry[Embedder]
	EmbedCaches   Registry[EmbedCache]
	ChatModels    Registry[ChatModel]
	VectorStores  Registry[VectorStore]
	SparseIndexes Registry[SparseIndex]
	Fusers        Registry[Fuser]
	Rerankers     Registry[Reranker]
	Verifiers     Registry[Verifier]
	Catalogs      Registry[Catalog]
	TraceSinks    Registry[TraceSink]

	QueryTransformers Registry[QueryTransformer]

	// Domain reads a domain that a collection remembers; package domain sets it. nil: the program knows none.
	Domain func(DomainRecord) (Domain, error)
}

// Default is where rooms register in their init functions and where Open looks unless [WithProviders] says otherwise.
var Default = &Providers{}

// DidYouMean returns `, did you mean "x"?` for the nearest known name, or "" if none is near.
func DidYouMean(name string, known []string) string {
	best, dist := "", len(name)/3+2
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), k); d < min(dist, max(len(name), len(k))) { // they have something in common
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
