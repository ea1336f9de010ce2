package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/lang"
)

// Mode says which lanes a search uses.
type Mode string

// The modes.
const (
	Hybrid Mode = "hybrid" // dense and sparse, fused
	Dense  Mode = "dense"  // vectors only
	Sparse Mode = "sparse" // words only
)

// Query is a question to a collection. Only Text must be given.
type Query struct {
	Text       string
	Collection string    // "" means Config.Collection
	TopK       int       // hits wanted; 0 means Config.Retrieval.TopK
	Mode       Mode      // "" means what Config.Retrieval enables
	Filter     Filter    // zero: everything
	AsOf       time.Time // leaves out what is not in force at this instant; zero: now where the collection's domain has dates, else no validity policy
	Match      TextMatch // how the sparse lane looks for words. A quoted phrase leaves the dense lane out, which cannot tell where words stand
	Expired    bool      // with AsOf: what is not in force is found too, with its status
	Explain    bool      // put the trace into the result

	Also     []SubQuery      // looked up beside Text, and fused with what it finds
	Progress func(StageDone) // called as each stage ends, never by two goroutines at once; it must not block. nil: nobody listens

	Turns []ChatMessage // the conversation before the question, oldest first, for query transforms that make a question of its own of a follow-up
	AsIs  bool          // look Text and Also up as they are: leave the configured query transforms out

	NoRerank bool // leave the configured reranker out: the order of fusion stands
	NoDomain bool // leave the rules of the collection's domain out: others are in Filter, AsOf and Expired already, or none are wanted

	// How the ranked passages are made into hits; nil means what Config.Retrieval says, and its comments tell the
	// ranges. Where passages are left out, those behind them move up, and the search looks deeper for more.
	Diversity      *float64 // put passages first that are unlike better ones
	MaxPerDocument *int     // most hits of one document
	Collapse       *float64 // leave out passages that say nearly the same as a better one; Hit.Duplicates names them
	Neighbours     *int     // fill Hit.Before and Hit.After
	Parent         *bool    // fill Hit.Parent
	Highlight      *bool    // fill Hit.Highlights
}

// StageDone says that a stage of a search has ended. A search that has to look deeper for its hits goes through stages
// again.
type StageDone struct {
	Stage   string
	Hits    int // candidates that the stage let through
	Elapsed time.Duration
}

// Result is the outcome of a search.
type Result struct {
	Query      string
	Collection string
	Mode       Mode  // lanes that were really used
	Hits       []Hit // best first
	Rerank     RerankStatus
	Rewrites   []Rewrite // what the query transforms made of the question, in their order
	Notes      []Note    // where the pipeline did less than was asked: a lane left out, a reranker that failed
	TraceID    string
	Trace      *Trace // nil unless Query.Explain
}

// Search ranks the collection's chunks against the query: both lanes at once, then fusion, then reranking if it is on.
//
// One lane failing leaves the other, and Notes says so; if none is left the result has no hits and the error matches
// ErrUnavailable. Other errors: ErrInvalid (empty text, bad filter), ErrNotFound (no such collection), ErrFingerprint
// (built by another embedder or analyzer), and whatever a configured reranker cannot be made for, see [Engine.Ready].
func (e *Engine) Search(ctx context.Context, q Query) (_ *Result, err error) {
	defer e.hide(&err)
	s, err := e.search(ctx, q)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return nil, err
	}
	return s.result, err
}

// probe runs a search that nobody asked for, such as a comparison makes, and records nothing.
func (e *Engine) probe(ctx context.Context, q Query) (*search, error) {
	s := newSearch(e, q)
	err := s.do(ctx)
	for err == nil && s.overtaken(ctx) {
		s = newSearch(e, q)
		err = s.do(ctx)
	}
	if s.result.Hits == nil {
		s.result.Hits = []Hit{}
	}
	return s, err
}

// search runs a search and records it.
func (e *Engine) search(ctx context.Context, q Query) (*search, error) {
	s, err := e.probe(ctx, q)
	trace := s.trace(err)
	e.record(ctx, trace)
	if q.Explain {
		s.result.Trace = e.tracing.atLeast(DetailStandard).tell(trace)
	}
	return s, err
}

// overtaken reports whether another process built the collection anew while it was searched: the indexes that were read may
// have been taken away meanwhile. Those of this process wait for the search.
func (s *search) overtaken(ctx context.Context) bool {
	if s.locker() == nil {
		return false
	}
	h, exists, err := s.readHeader(ctx, s.q.Collection)
	return err == nil && exists && h.Generation != s.stored.Header.Generation
}

// search is the state of one Search call.
type search struct {
	*Engine
	q        Query
	result   *Result
	id       string
	started  time.Time
	text     string     // normalised query text, as the query transforms left it
	also     []SubQuery // the query's and those of the transforms
	language string     // of the text, BCP 47; "" if it cannot be told
	index    string     // name under which the indexes know the collection
	filter   Filter
	stored   CollectionInfo // the collection, as the search found it
	dense    bool           // lanes wanted
	words    bool
	lookups  []lookup                     // what is looked up: the text, then also
	deeper   int                          // how many times as many candidates are looked at as are configured
	lists    map[string][]found           // by lane
	ranks    map[string]map[string]placed // of these, by lane and chunk ID
	fused    []Match
	cut      bool  // fused is not all that the lanes gave
	hits     []Hit // hydrated, in the order of the last stage
	spans    map[string]*Span

	shaping   shaping
	pool      []Hit               // hits before they were shaped
	unlike    []Hit               // what distinct keeps of the hits in the order of fusion
	fell      map[string]string   // why a hit of the pool fell in shaping, by chunk ID
	phrasesOf map[string][]uint64 // see phrases; by chunk ID

	reranker Reranker   // nil: off
	noting   sync.Mutex // see noteDamage
}

func newSearch(e *Engine, q Query) *search {
	s := &search{Engine: e, q: q, id: newTraceID(), started: e.now(), lists: map[string][]found{}, ranks: map[string]map[string]placed{}, spans: map[string]*Span{}}
	for _, stage := range queryStages {
		s.spans[stage] = &Span{Stage: stage, Method: e.methods[stage], Status: SpanOff}
	}
	s.q.Collection = e.collection(q.Collection)
	if s.q.TopK == 0 {
		s.q.TopK = e.config.Retrieval.TopK
	}
	s.shaping = q.shaping(&e.config.Retrieval)
	s.phrasesOf = map[string][]uint64{}
	s.result = &Result{Query: q.Text, Collection: s.q.Collection, TraceID: s.id, Rerank: RerankStatus{Status: RerankOff}}
	return s
}

// do is the spine of a search. While it reads the indexes, they are not taken away.
func (s *search) do(ctx context.Context) error {
	defer s.hideReasons()
	if err := s.check(); err != nil {
		return err
	}
	if err := s.rewrite(ctx); err != nil { // query_processing
		return err
	}
	defer s.readers.enter(s.q.Collection)()
	if err := s.understand(ctx); err != nil { // query_processing
		return err
	}
	// Which passages fall in shaping depends on the reranker's order, so there may be too few only then.
	for s.deeper = 1; ; s.deeper *= 2 {
		more, err := s.find(ctx)
		if err != nil {
			return err
		}
		s.rerank(ctx)
		s.shape(ctx)
		if len(s.hits) >= s.fill() || !more {
			break
		}
		if s.isDeep(s.pool) {
			s.noteShort()
			break
		}
	}
	if err := s.furnish(ctx); err != nil {
		return err
	}
	s.result.Hits = s.hits
	return s.noteMismatches(ctx)
}

// find ranks the candidates. A chunk that is in an index but not live (a run under way, or cut short), or that will fall
// in shaping, takes another's place, so it looks deeper until there are enough, the lanes have no more, or too many fall
// in shaping. It returns whether the lanes may have more.
func (s *search) find(ctx context.Context) (more bool, err error) {
	for ; ; s.deeper *= 2 {
		if err := s.candidates(ctx); err != nil {
			return false, err
		}
		more := s.cut || s.moreBelow(s.deeper)
		s.unlike = s.distinct(s.hits)
		if !more || len(s.unlike) >= s.fill() || s.isDeep(s.hits) {
			return more, nil
		}
	}
}

// mostOvertaken is how often a search is made again because documents changed meanwhile: an ingest that goes on all the
// time must not keep it from ending.
const mostOvertaken = 3

// candidates asks the lanes and reads what they found. If documents changed meanwhile, what was found of old versions is no
// longer live, and of new ones a lane may have seen a part only: so it asks again, until that makes no difference.
func (s *search) candidates(ctx context.Context) error {
	var before []string // IDs of the hits of the try before
	for tries := 0; ; tries++ {
		if err := s.lanes(ctx, s.deeper); err != nil { // dense ∥ sparse
			return err
		}
		s.fuse(s.deeper)
		if err := s.hydrate(ctx); err != nil {
			return err
		}
		now, exists, err := s.info(ctx, s.q.Collection)
		if err != nil || !exists || now.Header.Generation != s.stored.Header.Generation || now.Updated.Equal(s.stored.Updated) && now.Documents == s.stored.Documents {
			return err
		}
		ids := chunkIDs(s.hits)
		if tries > 0 && slices.Equal(ids, before) {
			return nil
		}
		if tries == mostOvertaken {
			s.result.Notes = append(s.result.Notes, Note{StageFusion, "documents kept changing while the indexes were asked, so parts of those may be missing: ask again"})
			return nil
		}
		s.stored, before = now, ids
	}
}

// chunkIDs are the IDs of the passages of hits, in their order.
func chunkIDs(hits []Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk.ID
	}
	return ids
}

// check reports a query that makes no sense, and normalises its text.
func (s *search) check() error {
	if !utf8.ValidString(s.q.Text) {
		return fmt.Errorf("search: the query is not UTF-8: %w", ErrInvalid)
	}
	s.text = oneSpaced(s.q.Text)
	if s.text == "" {
		return fmt.Errorf("search: the query is empty: give a question or keywords: %w", ErrInvalid)
	}
	if s.q.TopK < 0 || s.q.TopK > MaxTopK {
		return fmt.Errorf("search: top_k is %d: it must be from 1 to %d: %w", s.q.TopK, MaxTopK, ErrInvalid)
	}
	if err := s.shaping.validate(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if err := s.q.Filter.Validate(); err != nil {
		return err
	}
	if err := s.q.Match.Validate(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if err := validateAlso(s.q.Also); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	s.also = slices.Clone(s.q.Also)
	return nil
}

// understand decides what is looked up, where and how.
func (s *search) understand(ctx context.Context) error {
	span, start := s.begin(StageQuery)
	defer s.end(span, start)
	s.language = lang.Detect(s.text)
	if err := s.chooseLanes(); err != nil {
		return err
	}
	var err error
	if !s.q.NoRerank {
		if s.reranker, err = s.makeReranker(); err != nil {
			return err
		}
	}
	if s.stored, err = s.existing(ctx, s.q.Collection); err != nil {
		return err
	}
	if err := s.checkHeader(s.q.Collection, s.stored.Header, s.dense, s.words); err != nil {
		return err
	}
	if s.q, err = s.ruled(s.q, s.q.Collection, &s.stored.Header); err != nil {
		return err
	}
	s.filter = And(s.scope, s.q.Filter)
	if !s.q.AsOf.IsZero() && !s.q.Expired {
		s.filter = And(s.filter, ValidAt(s.q.AsOf))
	}
	s.index = indexName(s.q.Collection, s.stored.Header.Generation)
	s.planLookups()
	s.leaveOutForeign(span)
	s.leaveOutPhrases()
	span.In, span.Out = 1, len(s.lookups)
	span.Detail["original_query"], span.Detail["query"], span.Detail["top_k"] = s.q.Text, s.text, s.q.TopK
	span.Detail["keywords"] = lang.Keywords(s.tracing.secret.Hide(s.text), s.language) // its words apart would not be known again
	if len(s.result.Rewrites) > 0 {
		span.Detail["rewrites"] = s.result.Rewrites
	}
	if len(s.lookups) > 1 {
		span.Detail["looked_up"] = s.lookedUp()
	}
	if !s.filter.IsZero() {
		span.Detail["filter"] = s.filter
	}
	return nil
}

// chooseLanes turns the mode and the configuration into lanes.
func (s *search) chooseLanes() error {
	r := s.config.Retrieval
	switch s.q.Mode {
	case "":
		s.dense, s.words = *r.EnableDense && s.embedder != nil, *r.EnableSparse
	case Hybrid:
		s.dense, s.words = s.embedder != nil, true
	case Dense:
		s.dense = true
	case Sparse:
		s.words = true
	default:
		modes := []string{string(Hybrid), string(Dense), string(Sparse)}
		return fmt.Errorf("search: unknown mode %q%s (known: %s): %w", s.q.Mode, DidYouMean(string(s.q.Mode), modes), strings.Join(modes, ", "), ErrInvalid)
	}
	switch {
	case s.q.Mode == Dense && s.embedder == nil:
		return fmt.Errorf("search: mode dense needs an embedder, and this engine has none: %w", ErrInvalid)
	case s.q.Mode == Hybrid && s.embedder == nil:
		s.note(StageDense, SpanLeftOut, "this engine has no embedder")
	case !s.dense && !s.words:
		return fmt.Errorf("search: retrieval.enable_dense and enable_sparse are both off: %w", ErrInvalid)
	}
	s.setMode()
	return nil
}

func (s *search) setMode() {
	switch {
	case s.dense && s.words:
		s.result.Mode = Hybrid
	case s.dense:
		s.result.Mode = Dense
	default:
		s.result.Mode = Sparse
	}
}

// fuse joins the lanes that answered, and keeps deeper times as many candidates as are wanted.
func (s *search) fuse(deeper int) {
	span, start := s.begin(StageFusion)
	defer s.end(span, start)
	r := s.config.Retrieval
	var rankings []Ranking
	for _, lane := range []Ranking{{Stage: StageDense, Weight: r.DenseWeight}, {Stage: StageSparse, Weight: r.SparseWeight}} {
		most, whole := 0.0, 0.0 // of the weights of the lane's texts; their sum, in units of the most, does not overflow
		for _, l := range s.lists[lane.Stage] {
			most = max(most, s.lookups[l.lookup].Weight)
		}
		for _, l := range s.lists[lane.Stage] {
			whole += s.lookups[l.lookup].Weight / most
		}
		for _, l := range s.lists[lane.Stage] {
			share := s.lookups[l.lookup].Weight / most / whole
			rankings = append(rankings, Ranking{lane.Stage, lane.Weight * share, l.matches})
			span.In += len(l.matches)
		}
	}
	if len(rankings) == 1 { // nothing to fuse: the lane's own scores say more
		s.fused = slices.Clone(rankings[0].Matches)
		span.Status = SpanOff
	} else {
		s.fused = s.fuser(rankings)
	}
	keep := s.laneK(r.FusionTopK, deeper)
	if s.cut = len(s.fused) > keep; s.cut {
		s.fused = s.fused[:keep]
	}
	span.Out = len(s.fused)
	s.rankFusion(span)
}

// hydrate reads the texts of the fused candidates and drops what is not live, and what an index has let through that, by
// the catalog, does not match.
func (s *search) hydrate(ctx context.Context) error {
	ids := make([]string, len(s.fused))
	for i, m := range s.fused {
		ids[i] = m.ID
	}
	chunks, err := s.readable(s.catalog.Chunks(ctx, s.q.Collection, ids))
	if err != nil {
		return err
	}
	byID := make(map[string]*Chunk, len(chunks))
	for i := range chunks {
		byID[chunks[i].ID] = &chunks[i]
	}
	s.hits = make([]Hit, 0, len(chunks))
	for i, m := range s.fused {
		c := byID[m.ID]
		if c == nil || !s.filter.IsZero() && !s.filter.Match(c.Fields(), c.Validity) {
			continue
		}
		h := Hit{Chunk: *c, Score: m.Score, Status: c.Validity.Status(s.q.AsOf)}
		for _, lane := range []string{StageDense, StageSparse} {
			if p, ok := s.ranks[lane][m.ID]; ok {
				h.Trail = append(h.Trail, p.Rank)
			}
		}
		if s.spans[StageFusion].Status != SpanOff {
			h.Trail = append(h.Trail, Rank{StageFusion, i + 1, m.Score})
		}
		s.hits = append(s.hits, h)
	}
	return nil
}

// moreBelow reports whether a lane may have matches beyond those it gave.
func (s *search) moreBelow(deeper int) bool {
	r := s.config.Retrieval
	for stage, k := range map[string]int{StageDense: r.DenseTopK, StageSparse: r.SparseTopK} {
		if slices.ContainsFunc(s.lists[stage], func(l found) bool { return len(l.matches) >= s.laneK(k, deeper) }) {
			return true
		}
	}
	return false
}

// mostCandidates keeps products of sizes from overflowing; no collection is that large.
const mostCandidates = 1 << 30

// laneK is how many candidates a stage is asked for: never fewer than the hits wanted.
func (s *search) laneK(configured, deeper int) int {
	return min(max(configured, s.q.TopK), mostCandidates) * min(deeper, mostCandidates)
}
