// Package rag is an embeddable engine for retrieval-augmented generation: files go in, ranked passages and answers
// with sources come out, and every step in between can be seen.
//
//	import (
//		"github.com/seed-d8745b77/rag"
//		_ "github.com/seed-d8745b77/rag/defaults" // links the built-in providers
//	)
//
//	eng, err := rag.Open("kb") // no key, no service, no download
//	...
//	defer eng.Close()
//	report, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir("docs")}})
//	result, err := eng.Search(ctx, rag.Query{Text: "how long is the notice period?"})
//	answer, err := eng.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: "how long is the notice period?"}})
//
// The package holds the types, the contracts of providers, their registries and the engine, and imports only the
// standard library. Providers live in the packages beside it ("rooms") and register themselves; package ragtest has
// a conformance suite for each contract.
package rag

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/seed-d8745b77/rag/internal/datafile"
	"github.com/seed-d8745b77/rag/internal/madedir"
	"github.com/seed-d8745b77/rag/internal/remedy"
	"github.com/seed-d8745b77/rag/internal/secret"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Engine ingests sources and searches them. It is safe for concurrent use; ingests and deletes of one collection
// take turns, searches never wait for them.
type Engine struct {
	dir    string
	config Config
	log    *slog.Logger
	now    func() time.Time

	catalog      Catalog
	loaders      *Loaders
	splitter     Splitter
	transformers []Transformer
	embedder     Embedder   // nil: sparse only
	chat         ChatModel  // nil: none, and answers are extractive
	vision       ChatModel  // chat, if there is no other
	cache        EmbedCache // nil: off
	vectors      VectorStore
	sparse       SparseIndex
	fuser        Fuser
	tokens       TokenCounter // of the embedder, or an estimate
	verifier     Verifier     // nil: citations are not looked at
	prompts      prompts
	sink         TraceSink         // nil: off
	tracing      tracing           // what a trace may tell
	methods      map[string]string // provider by stage, for traces

	queryTransforms []namedTransform

	snapshot bool          // opened by WithSnapshot: nothing is written
	lockWait time.Duration // for another process that writes
	scope    Filter        // of a view: it holds for everything; see Scoped

	*state
}

// state is what changes while an engine works. An engine and its views have one together.
type state struct {
	closers []io.Closer
	closed  atomic.Bool
	ranker  lazyReranker

	*turns                 // with the other engines over the same folder
	scores    scoreCache   // of the reranker
	abandoned atomic.Int32 // calls of the reranker that go on after their deadline
	late      atomic.Int32 // the same of query transformers
	domains   domains      // of collections

	mu sync.Mutex // guards closers
}

// Open opens the engine whose data lies in dir, and makes the folder if there is none; "" keeps everything in memory
// and traces only where a sink is given. Without options it uses the providers of [DefaultConfig], which must be
// linked in. Several engines of one process share the data of a folder.
//
// Errors: ErrUnknownProvider; ErrLocked if another process has the data open (the message names it), unless
// [WithLockWait] or [WithSnapshot] is given; ErrInvalid for damaged or newer data and for bad settings.
func Open(dir string, opts ...Option) (*Engine, error) {
	s := settings{config: DefaultConfig(), providers: Default, logger: slog.New(slog.DiscardHandler), now: time.Now}
	for _, opt := range opts {
		opt(&s)
	}
	if err := s.config.withoutProvider(); err != nil {
		return nil, err
	}
	s.config.fillDefaults()
	if dir == "" && s.config.Trace.Provider == DefaultConfig().Trace.Provider {
		s.config.Trace.Provider = None // there is no folder for its file
	}
	if err := s.config.validate(); err != nil {
		return nil, err
	}
	var made madedir.Missing
	if dir != "" && !s.snapshot {
		made = madedir.Look(dir)
		if err := os.MkdirAll(dir, datafile.DirMode); err != nil {
			return nil, remedy.OfFolder(fmt.Errorf("make data folder: %w", err))
		}
		if err := withoutLinks(dir); err != nil {
			return nil, err
		}
	}
	e := &Engine{dir: dir, config: s.config, log: s.logger, now: s.now, methods: map[string]string{}, snapshot: s.snapshot, lockWait: s.lockWait, state: &state{turns: &turns{}}}
	if dir != "" && !s.snapshot {
		shared, err := turnsOf(dir)
		if err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
		e.own(shared) // first, so that it goes last
		e.turns = &shared.turns
	}
	if err := e.build(&s); err != nil {
		if e.catalog != nil && e.storesNothing() {
			_ = made.Undo() // while it is locked; where open files cannot be removed, it stays
		} else {
			made.UndoEmpty()
		}
		return nil, withoutSecrets(secret.NewMasker(s.secrets), errors.Join(remedy.Of(err), e.Close()))
	}
	return e, nil
}

// storesNothing reports whether no collection is in the catalog.
func (e *Engine) storesNothing() bool {
	have, err := e.catalog.Collections(context.Background())
	return err == nil && len(have) == 0
}

// build makes the providers in the order in which one needs the other.
func (e *Engine) build(s *settings) error {
	s.noteSecrets()
	env := Env{Dir: e.dir, ModelDir: s.config.ModelDir, Logger: e.log, Now: e.now, Getenv: s.getenv}
	c, p := &s.config, s.providers
	e.domains.read = p.Domain
	e.tokens = wordEstimate{}
	err := e.beginSnapshot(s, &env)
	if err != nil {
		return err
	}
	if err = e.buildChat(s, &env); err != nil {
		return err
	}
	if s.embedder != nil || c.Embedder.Provider != None {
		if e.embedder, err = provide(e, "embedder", StageEmbed, s.embedder, c.Embedder, &p.Embedders, env); err != nil {
			return err
		}
		if t, ok := e.embedder.(TokenCounter); ok {
			e.tokens = t
		}
		env.Embedder, env.Tokens = e.embedder, e.tokens
	}
	if err = e.openCatalog(s, env); err != nil {
		return err
	}
	if e.embedder != nil {
		if err = e.buildCache(s, env); err != nil {
			return err
		}
		if e.vectors, err = provide(e, "vector_store", StageDense, s.vectors, c.VectorStore, &p.VectorStores, env); err != nil {
			return err
		}
	}
	if e.sparse, err = provide(e, "sparse_index", StageSparse, s.sparse, c.SparseIndex, &p.SparseIndexes, env); err != nil {
		return err
	}
	if e.splitter, err = provide(e, "splitter", StageSplit, s.splitter, c.Splitter, &p.Splitters, env); err != nil {
		return err
	}
	if e.fuser, err = provide(e, "fusion", StageFusion, s.fuser, c.Fusion, &p.Fusers, env); err != nil {
		return err
	}
	if err = e.planReranker(s, env); err != nil {
		return err
	}
	if err = e.buildQueryTransforms(s, env); err != nil {
		return err
	}
	if err = e.buildAnswers(s, env); err != nil {
		return err
	}
	if err = e.buildTraces(s, env); err != nil {
		return err
	}
	if err = e.buildTransformers(s, env); err != nil {
		return err
	}
	return e.buildLoaders(s, env)
}

// buildTransformers takes the transformers that were given, or makes the configured ones.
func (e *Engine) buildTransformers(s *settings, env Env) error {
	if e.transformers = s.transformers; e.transformers != nil {
		return nil
	}
	for i, tc := range s.config.Transforms {
		t, err := provide(e, fmt.Sprintf("transforms.%d", i), StageTransform, nil, tc, &s.providers.Transformers, env)
		if err != nil {
			return err
		}
		e.transformers = append(e.transformers, t)
	}
	return nil
}

// buildLoaders makes all loaders.
func (e *Engine) buildLoaders(s *settings, env Env) (err error) {
	if e.loaders, err = newLoaders(s, env); err != nil {
		return err
	}
	e.methods[StageLoad] = strings.Join(e.loaders.Names(), ",")
	for _, l := range e.loaders.list {
		e.own(l.Loader)
	}
	if s.ocr == nil {
		e.own(e.loaders.ocr)
	} else {
		e.methods["ocr"] = providerName(s.ocr)
	}
	return nil
}

// buildChat makes the chat models and puts them into env. They ask nobody yet.
func (e *Engine) buildChat(s *settings, env *Env) (err error) {
	c, models := &s.config, &s.providers.ChatModels
	if s.chat != nil || c.LLM.Provider != None {
		if e.chat, err = provide(e, "llm", "llm", s.chat, c.LLM, models, *env); err != nil {
			return err
		}
	}
	e.vision = e.chat
	if s.vision != nil || c.VisionLLM.Provider != None {
		if e.vision, err = provide(e, "vision_llm", "vision_llm", s.vision, c.VisionLLM, models, *env); err != nil {
			return err
		}
	}
	env.Chat, env.Vision = e.chat, e.vision
	return nil
}

// lockRetry is the pause between two tries to open data that another process has open.
const lockRetry = 50 * time.Millisecond

// openCatalog makes the catalog, which is the first to open the data, and waits for another process as long as it may.
func (e *Engine) openCatalog(s *settings, env Env) (err error) {
	for deadline := time.Now().Add(s.lockWait); ; <-time.After(lockRetry) {
		e.catalog, err = provide(e, "catalog", StageCommit, s.catalog, s.config.Catalog, &s.providers.Catalogs, env)
		if err != nil {
			e.catalog = nil // not a pointer to none
		}
		if !errors.Is(err, ErrLocked) || !time.Now().Before(deadline) {
			return err
		}
	}
}

// buildCache makes the embedding cache. A program that links none goes without: it only saves time.
func (e *Engine) buildCache(s *settings, env Env) (err error) {
	c, caches := s.config.EmbedCache, &s.providers.EmbedCaches
	if s.cache == nil && (c.Provider == None || len(caches.Names()) == 0 && c.Provider == DefaultConfig().EmbedCache.Provider) {
		return nil
	}
	e.cache, err = provide(e, "embed_cache", "embed_cache", s.cache, c, caches, env)
	return err
}

// provide returns the provider given as an option, or makes the configured one, and notes its name for traces.
func provide[T any](e *Engine, slot, stage string, given T, c ProviderConfig, r *Registry[T], env Env) (T, error) {
	if any(given) != nil && !isNilFunc(given) {
		e.methods[stage] = providerName(given)
		return given, nil
	}
	made, err := r.make(slot, c, env)
	if err != nil {
		return made, err
	}
	e.methods[stage] = c.Provider
	e.own(made)
	return made, nil
}

// isNilFunc reports whether a provider slot of function type was left empty.
func isNilFunc(v any) bool {
	f, ok := v.(Fuser)
	return ok && f == nil
}

// own closes p with the engine. What an option brought in stays its owner's.
func (e *Engine) own(p any) {
	if c, ok := p.(io.Closer); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.closers = append(e.closers, c)
	}
}

// Close releases what the engine opened. Calls under way must have returned. A second Close does nothing, nor does that of
// a view of [Engine.Scoped].
func (e *Engine) Close() error {
	if e.IsView() {
		return nil
	}
	e.closed.Store(true)
	e.mu.Lock()
	closers := e.closers
	e.closers = nil
	e.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(closers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// errClosed is what a closed engine answers.
var errClosed = fmt.Errorf("the engine is closed: %w", ErrInvalid)

// Config returns the configuration in force, defaults filled in.
func (e *Engine) Config() Config { return e.config }

// collection returns the name a call means.
func (e *Engine) collection(name string) string {
	if name == "" {
		return e.config.Collection
	}
	return name
}

// fingerprint of a provider: what it says of itself, or its type.
func fingerprint(p any) string {
	if f, ok := p.(Fingerprinter); ok {
		return f.Fingerprint()
	}
	return providerName(p)
}

// providerName is the type of a provider without the pointer: "catalog.Bolt".
func providerName(p any) string { return strings.TrimPrefix(fmt.Sprintf("%T", p), "*") }

// wordEstimate counts tokens for an embedder that cannot: about four tokens to three words, and one to each
// character of a script written without blanks.
type wordEstimate struct{}

func (wordEstimate) CountTokens(text string) int {
	words, single := 0, 0
	in := false
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n' || r == '\t':
			in = false
		case r >= 0x2E80:
			single++
			in = false
		case !in:
			words++
			in = true
		}
	}
	return min((words*4+2)/3+single, len(text)) // a token has a byte at least
}

// mustJSON encodes plain data that cannot fail to encode.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("rag: " + err.Error())
	}
	return b
}
