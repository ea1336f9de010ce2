package rag

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag/internal/strict"
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

// Typed turns a function over a settings struct into a Factory, which reads settings as [DecodeSettings] does.
func Typed[C, T any](f func(env Env, settings C) (T, error)) Factory[T] {
	return func(env Env, raw json.RawMessage) (T, error) {
		var settings C
		if err := DecodeSettings(raw, &settings); err != nil {
			var zero T
			return zero, err
		}
		return f(env, settings)
	}
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

// make is New for a slot of the configuration, which errors name.
func (r *Registry[T]) make(slot string, c ProviderConfig, env Env) (T, error) {
	made, err := r.New(c.Provider, env, c.Settings)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalid) && (len(c.Settings) > 0 || !opensData(slot)) {
		if _, already := errors.AsType[*ConfigError](err); !already {
			err = &ConfigError{"", err} // what the provider finds wrong with them, as a rule
		}
	}
	return made, InConfig(slot, err)
}

// opensData reports whether the providers of a slot open what is on disk, which can be wrong without any setting being so.
func opensData(slot string) bool {
	return slices.Contains([]string{"catalog", "vector_store", "sparse_index", "embed_cache", "trace"}, slot)
}

// find returns the factory of this name, or ErrUnknownProvider.
func (r *Registry[T]) find(name string) (Factory[T], error) {
	r.mu.RLock()
	f := r.factories[name]
	r.mu.RUnlock()
	if f != nil {
		return f, nil
	}
	return nil, &ConfigError{"provider", r.unknown(name)}
}

// unknown says of a name that nothing is registered under it, and what is.
func (r *Registry[T]) unknown(name string) error {
	names := r.Names()
	if where, ok := elsewhere[name]; ok {
		return fmt.Errorf("%q is not linked into this program: %s (linked in: %s): %w", name, where, strings.Join(names, ", "), ErrUnknownProvider)
	}
	if len(names) == 0 {
		return fmt.Errorf("%q: this program links no provider of this kind; most come with `import _ \"github.com/seed-d8745b77/rag/defaults\"`: %w", name, ErrUnknownProvider)
	}
	return fmt.Errorf("%q%s (linked in: %s): %w", name, DidYouMean(name, names), strings.Join(names, ", "), ErrUnknownProvider)
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
func DidYouMean(name string, known []string) string { return strict.DidYouMean(name, known) }
