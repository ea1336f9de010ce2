package rag

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
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
	AsOf       time.Time // leaves out what is not in force at this instant; zero: no validity policy
	Expired    bool      // with AsOf: what is not in force is found too, with its status
	Explain    bool      // put the trace into the result
}

// Result is the outcome of a search.
type Result struct {
	Query      string
	Collection string
	Mode       Mode  // lanes that were really used
	Hits       []Hit // best first
	Rerank     RerankStatus
	Notes      []Note // where the pipeline did less than was asked: a lane left out, a reranker that failed
	TraceID    string
	Trace      *Trace // nil unless Query.Explain
}

// Search ranks the collection's chunks against the query: both lanes at once, then fusion, then reranking if it is on.
//
// One lane failing leaves the other, and Notes says so; if none is left the result has no hits and the error matches
// ErrUnavailable. Other errors: ErrInvalid (empty text, bad filter), ErrNotFound (no such collection), ErrFingerprint
// (built by another embedder or analyzer).
func (e *Engine) Search(ctx context.Context, q Query) (*Result, error) {
	s := newSearch(e, q)
	err := s.do(ctx)
	if s.result.Hits == nil {
		s.result.Hits = []Hit{}
	}
	trace := s.trace(err)
	e.record(ctx, trace)
	if q.Explain {
		s.result.Trace = trace
	}
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return nil, err
	}
	return s.result, err
}

// search is the state of one Search call.
type search struct {
	*Engine
	q       Query
	result  *Result
	id      string
	started time.Time
	text    string // normalised query text
	index   string // name under which the indexes know the collection
	filter  Filter
	chunks  int  // in the collection
	dense   bool // lanes wanted
	words   bool
	lists   map[string][]Match // by lane
	fused   []Match
	cut     bool  // fused is not all that the lanes gave
	hits    []Hit // hydrated, in the order of the last stage
	spans   map[string]*Span
}

func newSearch(e *Engine, q Query) *search {
	s := &search{Engine: e, q: q, id: newTraceID(), started: e.now(), lists: map[string][]Match{}, spans: map[string]*Span{}}
	for _, stage := range queryStages {
		s.spans[stage] = &Span{Stage: stage, Method: e.methods[stage], Status: SpanOff}
	}
	s.q.Collection = e.collection(q.Collection)
	if s.q.TopK == 0 {
		s.q.TopK = e.config.Retrieval.TopK
	}
	s.result = &Result{Query: q.Text, Collection: s.q.Collection, TraceID: s.id, Rerank: RerankStatus{Status: RerankOff}}
	return s
}

// do is the spine of a search.
func (s *search) do(ctx context.Context) error {
	if err := s.find(ctx); err != nil {
		return err
	}
	s.rerank(ctx)
	if len(s.hits) > s.q.TopK {
		s.hits = s.hits[:s.q.TopK]
	}
	s.result.Hits = s.hits
	return s.noteUnknownFields(ctx)
}

// find ranks the candidates. While it runs, the indexes that it reads are not taken away.
func (s *search) find(ctx context.Context) error {
	defer s.readers.enter(s.q.Collection)()
	if err := s.understand(ctx); err != nil { // query_processing
		return err
	}
	// A chunk that is in an index but not live (a run under way, or cut short) takes a live one's place, so look
	// further until there are enough or the lanes have no more.
	for deeper := 1; ; deeper *= 2 {
		if err := s.lanes(ctx, deeper); err != nil { // dense ∥ sparse
			return err
		}
		s.fuse(deeper)
		live, err := s.hydrate(ctx)
		if err != nil {
			return err
		}
		if live >= s.q.TopK || live == len(s.fused) || !s.cut && !s.moreBelow(deeper) {
			return nil
		}
	}
}

// noteUnknownFields says of a search that found nothing which fields its filter names that no passage has.
func (s *search) noteUnknownFields(ctx context.Context) error {
	missing := s.filter.fields()
	if len(s.hits) > 0 || len(missing) == 0 {
		return nil
	}
	known := map[string]bool{}
	for c, err := range s.catalog.Scan(ctx, s.q.Collection, Filter{}) {
		if err != nil {
			return err
		}
		for name := range c.Fields() {
			known[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, name := range missing {
		if !known[name] {
			s.note(StageQuery, "", fmt.Sprintf("no passage has the field %q%s (fields: %s)", name, DidYouMean(name, names), strings.Join(names, ", ")))
		}
	}
	return nil
}

// understand checks the query and decides the lanes.
func (s *search) understand(ctx context.Context) error {
	span, start := s.begin(StageQuery)
	defer s.end(span, start)
	s.text = strings.Join(strings.Fields(strings.ToValidUTF8(s.q.Text, " ")), " ")
	if s.text == "" {
		return fmt.Errorf("search: the query is empty: give a question or keywords: %w", ErrInvalid)
	}
	if s.q.TopK < 0 {
		return fmt.Errorf("search: top_k is %d: it must be at least 1: %w", s.q.TopK, ErrInvalid)
	}
	if err := s.q.Filter.Validate(); err != nil {
		return err
	}
	s.filter = s.q.Filter
	if !s.q.AsOf.IsZero() && !s.q.Expired {
		s.filter = And(s.filter, ValidAt(s.q.AsOf))
	}
	if err := s.chooseLanes(); err != nil {
		return err
	}
	info, err := s.existing(ctx, s.q.Collection)
	if err != nil {
		return err
	}
	if err := s.checkHeader(s.q.Collection, info.Header, s.dense, s.words); err != nil {
		return err
	}
	s.chunks = info.Chunks
	s.index = indexName(s.q.Collection, info.Header.Generation)
	s.leaveOutForeign(span)
	span.In, span.Out = 1, 1
	span.Detail["original_query"], span.Detail["query"] = s.q.Text, s.text
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
		return fmt.Errorf("search: mode %q%s (known: %s): %w", s.q.Mode, DidYouMean(string(s.q.Mode), modes), strings.Join(modes, ", "), ErrInvalid)
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
		if list, ok := s.lists[lane.Stage]; ok {
			lane.Matches = list
			rankings = append(rankings, lane)
			span.In += len(list)
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

// hydrate reads the texts of the fused candidates, drops what is not live, and returns how many are left.
func (s *search) hydrate(ctx context.Context) (int, error) {
	ids := make([]string, len(s.fused))
	for i, m := range s.fused {
		ids[i] = m.ID
	}
	chunks, err := s.catalog.Chunks(ctx, s.q.Collection, ids)
	if err != nil {
		return 0, err
	}
	byID := make(map[string]*Chunk, len(chunks))
	for i := range chunks {
		byID[chunks[i].ID] = &chunks[i]
	}
	ranks := s.laneRanks()
	s.hits = s.hits[:0]
	for i, m := range s.fused {
		c := byID[m.ID]
		if c == nil {
			continue
		}
		h := Hit{Chunk: *c, Score: m.Score, Status: c.Validity.Status(s.q.AsOf)}
		for _, lane := range []string{StageDense, StageSparse} {
			if r, ok := ranks[lane][m.ID]; ok {
				h.Trail = append(h.Trail, r)
			}
		}
		if s.spans[StageFusion].Status != SpanOff {
			h.Trail = append(h.Trail, Rank{StageFusion, i + 1, m.Score})
		}
		s.hits = append(s.hits, h)
	}
	return len(s.hits), nil
}

// moreBelow reports whether a lane may have matches beyond those it gave.
func (s *search) moreBelow(deeper int) bool {
	r := s.config.Retrieval
	return len(s.lists[StageDense]) >= s.laneK(r.DenseTopK, deeper) || len(s.lists[StageSparse]) >= s.laneK(r.SparseTopK, deeper)
}

// mostCandidates keeps products of sizes from overflowing; no collection is that large.
const mostCandidates = 1 << 30

// laneK is how many candidates a stage is asked for: never fewer than the hits wanted.
func (s *search) laneK(configured, deeper int) int {
	return min(max(configured, s.q.TopK), mostCandidates) * min(deeper, mostCandidates)
}
