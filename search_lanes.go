package rag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag/internal/lang"
	"github.com/seed-d8745b77/rag/internal/quote"
)

// queryStages are the stages of a search, in order.
var queryStages = []string{StageQuery, StageDense, StageSparse, StageFusion, StageRerank, StageShape}

// begin starts a stage's span anew.
func (s *search) begin(stage string) (*Span, time.Time) {
	span := s.spans[stage]
	*span = Span{Stage: stage, Method: span.Method, Detail: map[string]any{}, ElapsedMS: span.ElapsedMS, StartMS: span.StartMS, EndMS: span.EndMS}
	return span, s.now()
}

// end adds the time since start.
func (s *search) end(span *Span, start time.Time) {
	now := s.now()
	span.ElapsedMS += milliseconds(now.Sub(start))
	span.ran(s.sinceStart(start), s.sinceStart(now))
	s.report(span.Stage, span.Out, now.Sub(start))
}

// sinceStart is the offset of an instant in the trace, in milliseconds.
func (s *search) sinceStart(at time.Time) float64 { return milliseconds(at.Sub(s.started)) }

// report tells who listens that a stage has ended.
func (s *search) report(stage string, hits int, elapsed time.Duration) {
	if s.q.Progress != nil {
		s.q.Progress(StageDone{stage, hits, elapsed})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// note says in result and trace that a stage did less than was asked.
func (s *search) note(stage, status, reason string) {
	reason = s.HideSecrets(reason)
	span := s.spans[stage]
	span.Status = status
	if span.Detail == nil {
		span.Detail = map[string]any{}
	}
	span.Detail["reason"] = reason
	s.result.Notes = append(s.result.Notes, Note{stage, reason})
}

// leaveOutForeign takes texts out of the dense lane that are in a language its model does not know: such a vector means
// nothing, so it is no evidence. A search that asks for the dense lane alone gets it, with a note.
func (s *search) leaveOutForeign(query *Span) {
	query.Detail["language"] = s.language
	if !s.dense {
		return
	}
	known := s.embedder.Model().Languages
	reason := foreign(s.language, known)
	if !s.words {
		if reason != "" {
			s.result.Notes = append(s.result.Notes, Note{StageDense, reason + ": its ranking means little"})
		}
		return
	}
	left := 0
	for i := range s.lookups {
		l := &s.lookups[i]
		language := s.language
		if i > 0 {
			language = lang.Detect(l.Text)
		}
		if l.dense = foreign(language, known) == ""; l.dense {
			left++
		}
	}
	switch {
	case left == 0:
		s.dense = false
		s.note(StageDense, SpanLeftOut, reason)
		s.setMode()
	case reason != "":
		s.result.Notes = append(s.result.Notes, Note{StageDense, reason + ": only its sub-queries are looked up"})
	}
}

// foreign says why a model that knows these languages cannot be asked; "" if it can. A language that could not be told
// ("") and a model that knows any (nil) give no reason.
func foreign(language string, known []string) string {
	if language == "" || len(known) == 0 || slices.Contains(known, language) {
		return ""
	}
	return fmt.Sprintf("the question is in %q and the model knows %s", language, strings.Join(known, ", "))
}

// quotesPhrase reports whether the question asks for words as they stand.
func (s *search) quotesPhrase() bool {
	return s.q.Match.Phrase && slices.ContainsFunc(quote.Sections(s.text), func(q quote.Section) bool {
		return q.Quoted && strings.TrimSpace(q.Text) != ""
	})
}

// leaveOutPhrases drops the dense lane for a question with a quoted phrase: it would bring passages without the phrase.
// A search that asks for the dense lane alone gets it, with a note.
func (s *search) leaveOutPhrases() {
	if !s.dense || !s.quotesPhrase() {
		return
	}
	reason := "the question quotes a phrase, and vectors do not tell where words stand"
	if !s.words {
		s.result.Notes = append(s.result.Notes, Note{StageDense, reason})
		return
	}
	s.dense = false
	s.note(StageDense, SpanLeftOut, reason)
	s.setMode()
}

// lane is what one of the two lanes gave.
type lane struct {
	stage string
	lists []found // of the texts that were looked up, in their order
	errs  []error // by lookup; nil where there is a list, or the text does not go to this lane
	began time.Time
	ended time.Time
}

// hits counts what the lane found.
func (l *lane) hits() (n int) {
	for _, list := range l.lists {
		n += len(list.matches)
	}
	return n
}

// found is what a lane found for one text.
type found struct {
	lookup  int // index among the texts
	matches []Match
}

// lookupsAtOnce is how many texts a lane looks up at the same time.
const lookupsAtOnce = 4

// lanes asks both indexes at once, each for its own number of candidates of each text, times deeper.
func (s *search) lanes(ctx context.Context, deeper int) error {
	r := s.config.Retrieval
	var got []lane
	var mu sync.Mutex
	var wg sync.WaitGroup
	ask := func(stage string, search func(l *lookup) ([]Match, error)) {
		s.begin(stage)
		wg.Go(func() {
			start := s.now()
			l := s.askEach(stage, search)
			l.began, l.ended = start, s.now()
			mu.Lock()
			defer mu.Unlock()
			got = append(got, l)
			s.report(stage, l.hits(), l.ended.Sub(l.began))
		})
	}
	if s.dense {
		ask(StageDense, func(l *lookup) ([]Match, error) { return s.askDense(ctx, l, s.laneK(r.DenseTopK, deeper)) })
	}
	if s.words {
		ask(StageSparse, func(l *lookup) ([]Match, error) {
			return s.sparse.Search(ctx, s.index, SparseQuery{Text: l.Text, K: s.laneK(r.SparseTopK, deeper), Filter: s.laneFilter(), Match: s.q.Match})
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(got, func(a, b lane) int { return strings.Compare(a.stage, b.stage) })
	return s.takeLanes(got)
}

// askEach looks up every text that goes to the lane, some at once.
func (s *search) askEach(stage string, search func(l *lookup) ([]Match, error)) lane {
	lists, errs := make([][]Match, len(s.lookups)), make([]error, len(s.lookups))
	slots := make(chan struct{}, lookupsAtOnce)
	var wg sync.WaitGroup
	for i := range s.lookups {
		if l := &s.lookups[i]; l.in(stage) {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				lists[i], errs[i] = survive(stage, func() ([]Match, error) { return search(l) })
				if errs[i] == nil {
					errs[i] = checkFinite(lists[i])
				}
			})
		}
	}
	wg.Wait()
	out := lane{stage: stage, errs: errs}
	for i := range s.lookups {
		if s.lookups[i].in(stage) && errs[i] == nil {
			out.lists = append(out.lists, found{i, lists[i]})
		}
	}
	return out
}

// survive makes a call of a provider; one that panics has failed. What the engine starts must not end the program.
func survive[T any](who string, call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s gave up (panic: %v): %w", who, p, ErrInvalid)
		}
	}()
	return call()
}

// laneFilter is the condition that the indexes are asked with. What they hold of a document that is being changed, or
// whose change was cut short, may be newer than the document: all of it is a candidate, and hydrate decides.
func (s *search) laneFilter() Filter {
	if s.filter.IsZero() || len(s.stored.Header.Pending) == 0 {
		return s.filter
	}
	changing := Filter{Op: OpIn, Field: FieldURI}
	for _, uri := range s.stored.Header.Pending { // of these the indexes may have newer records than the catalog
		changing.Values = append(changing.Values, uri)
	}
	return And(s.scope, Or(s.filter, changing)) // a view has no part in the changes of others
}

// checkFinite reports a score that cannot be ranked.
func checkFinite(list []Match) error {
	for _, m := range list {
		if m.Score-m.Score != 0 { // not a number, or infinite
			return fmt.Errorf("the index gave chunk %s the score %v: %w", m.ID, m.Score, ErrInvalid)
		}
	}
	return nil
}

// takeLanes keeps the lists of the lanes that answered and notes what failed: a lane goes on with the texts for which it
// has a list, and has failed if there is none.
func (s *search) takeLanes(got []lane) error {
	var errs []error
	for _, l := range got {
		span := s.spans[l.stage]
		span.ElapsedMS += milliseconds(l.ended.Sub(l.began))
		span.ran(s.sinceStart(l.began), s.sinceStart(l.ended))
		if len(l.lists) == 0 {
			err := cmp.Or(l.errs...) // of the question, if it was looked up
			span.fail(err)
			s.note(l.stage, SpanFailed, err.Error())
			errs = append(errs, &StageError{Stage: l.stage, Err: err})
			s.drop(l.stage)
			continue
		}
		for i, err := range l.errs {
			if err != nil {
				s.note(l.stage, "", fmt.Sprintf("%q was not looked up: %v", s.lookups[i].Text, err))
				s.lookups[i].leaveOut(l.stage) // deeper is no use
			}
		}
		s.take(l.stage, l.lists)
		s.rankLane(span)
		span.In = s.stored.Chunks
		if l.stage == StageDense {
			s.tellEmbedding(span)
		}
	}
	if len(s.lists) == 0 {
		return fmt.Errorf("no lane answered: %w: %w", ErrUnavailable, errors.Join(errs...))
	}
	s.setMode()
	return nil
}

// tellEmbedding says in the dense lane's span which model embedded the texts, whose it is, and how long the slowest of
// them took.
func (s *search) tellEmbedding(span *Span) {
	var longest time.Duration
	for i := range s.lookups {
		longest = max(longest, s.lookups[i].embedding)
	}
	model := s.embedder.Model()
	span.Detail["embedder"], span.Detail["model"], span.Detail["dimension"] = s.methods[StageEmbed], model.Name, model.Dims
	span.Detail["embed_ms"] = milliseconds(longest)
}

// drop leaves a failed lane out of the rest of the search.
func (s *search) drop(stage string) {
	delete(s.lists, stage)
	delete(s.ranks, stage)
	if stage == StageDense {
		s.dense = false
	} else {
		s.words = false
	}
}

// askDense embeds a text, once in a search, and asks the vector store. A store that cannot filter is asked for more
// until enough of what it gives passes the filter.
func (s *search) askDense(ctx context.Context, l *lookup, k int) ([]Match, error) {
	if l.vector == nil {
		var err error
		start := s.now()
		if l.vector, err = s.embedLookup(ctx, cmp.Or(l.Role, AsQuestion), l.Text); err != nil {
			return nil, err
		}
		l.embedding = s.now().Sub(start)
	}
	vector := l.vector
	list, err := s.vectors.Search(ctx, s.index, VectorQuery{Vector: vector, K: k, Filter: s.laneFilter()})
	if !errors.Is(err, ErrUnsupported) || s.filter.IsZero() {
		return list, err
	}
	for ask := 4 * k; ; ask *= 4 {
		list, err = s.vectors.Search(ctx, s.index, VectorQuery{Vector: vector, K: ask})
		if err != nil {
			return nil, err
		}
		passed, err := s.passing(ctx, list)
		if err != nil {
			return nil, err
		}
		if len(passed) >= k || len(list) < ask {
			return passed[:min(k, len(passed))], nil
		}
	}
}

// passing keeps the matches whose chunks are live and match the filter.
func (s *search) passing(ctx context.Context, list []Match) ([]Match, error) {
	ids := make([]string, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	chunks, err := s.readable(s.catalog.Chunks(ctx, s.q.Collection, ids))
	if err != nil {
		return nil, err
	}
	ok := make(map[string]bool, len(chunks))
	for i := range chunks {
		ok[chunks[i].ID] = s.filter.Match(chunks[i].Fields(), chunks[i].Validity)
	}
	return slices.DeleteFunc(list, func(m Match) bool { return !ok[m.ID] }), nil
}
