package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// queryStages are the stages of a search, in order.
var queryStages = []string{StageQuery, StageDense, StageSparse, StageFusion, StageRerank, StageShape}

// begin starts a stage's span anew.
func (s *search) begin(stage string) (*Span, time.Time) {
	span := s.spans[stage]
	*span = Span{Stage: stage, Method: span.Method, Detail: map[string]any{}, ElapsedMS: span.ElapsedMS}
	return span, s.now()
}

// end adds the time since start.
func (s *search) end(span *Span, start time.Time) { span.ElapsedMS += milliseconds(s.now().Sub(start)) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// note says in result and trace that a stage did less than was asked.
func (s *search) note(stage, status, reason string) {
	span := s.spans[stage]
	span.Status = status
	if span.Detail == nil {
		span.Detail = map[string]any{}
	}
	span.Detail["reason"] = reason
	s.result.Notes = append(s.result.Notes, Note{stage, reason})
}

// leaveOutForeign drops the dense lane for a question in a language its model does not know: such a vector means
// nothing, so it is no evidence. A search that asks for the dense lane alone gets it, with a note.
func (s *search) leaveOutForeign(query *Span) {
	query.Detail["language"] = s.language
	if !s.dense {
		return
	}
	reason := foreign(s.language, s.embedder.Model().Languages)
	if reason == "" {
		return
	}
	if !s.words {
		s.result.Notes = append(s.result.Notes, Note{StageDense, reason + ": its ranking means little"})
		return
	}
	s.dense = false
	s.note(StageDense, SpanLeftOut, reason)
	s.setMode()
}

// foreign says why a model that knows these languages cannot be asked; "" if it can. A language that could not be told
// ("") and a model that knows any (nil) give no reason.
func foreign(language string, known []string) string {
	if language == "" || len(known) == 0 || slices.Contains(known, language) {
		return ""
	}
	return fmt.Sprintf("the question is in %q and the model knows %s", language, strings.Join(known, ", "))
}

// leaveOutPhrases drops the dense lane for a question with a quoted phrase: it would bring passages without the phrase.
// A search that asks for the dense lane alone gets it, with a note.
func (s *search) leaveOutPhrases() {
	if !s.dense || !s.q.Match.Phrase || !strings.ContainsAny(s.text, openingQuotes) {
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

// openingQuotes are the marks with which [TextMatch] lets a phrase begin.
const openingQuotes = "\"“„«「『＂"

// lane is what one of the two lanes gave.
type lane struct {
	stage string
	list  []Match
	err   error
	spent time.Duration
}

// lanes asks both indexes at once, each for its own number of candidates times deeper.
func (s *search) lanes(ctx context.Context, deeper int) error {
	r := s.config.Retrieval
	var got []lane
	var mu sync.Mutex
	var wg sync.WaitGroup
	ask := func(stage string, search func() ([]Match, error)) {
		s.begin(stage)
		wg.Go(func() {
			start := s.now()
			list, err := search()
			if err == nil {
				err = checkFinite(list)
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, lane{stage, list, err, s.now().Sub(start)})
		})
	}
	if s.dense {
		ask(StageDense, func() ([]Match, error) { return s.askDense(ctx, s.laneK(r.DenseTopK, deeper)) })
	}
	if s.words {
		ask(StageSparse, func() ([]Match, error) {
			return s.sparse.Search(ctx, s.index, SparseQuery{Text: s.text, K: s.laneK(r.SparseTopK, deeper), Filter: s.laneFilter(), Match: s.q.Match})
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(got, func(a, b lane) int { return strings.Compare(a.stage, b.stage) })
	return s.takeLanes(got)
}

// laneFilter is the condition that the indexes are asked with. What they hold of a document that is being changed, or
// whose change was cut short, may be newer than the document: all of it is a candidate, and hydrate decides.
func (s *search) laneFilter() Filter {
	if s.filter.IsZero() || len(s.pending) == 0 {
		return s.filter
	}
	changing := Filter{Op: OpIn, Field: FieldURI}
	for _, uri := range s.pending {
		changing.Values = append(changing.Values, uri)
	}
	return Or(s.filter, changing)
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

// takeLanes keeps the lists of the lanes that answered and notes those that failed.
func (s *search) takeLanes(got []lane) error {
	var errs []error
	for _, l := range got {
		span := s.spans[l.stage]
		span.ElapsedMS += milliseconds(l.spent)
		if l.err != nil {
			span.Error = l.err.Error()
			s.note(l.stage, SpanFailed, l.err.Error())
			errs = append(errs, &StageError{Stage: l.stage, Err: l.err})
			s.drop(l.stage)
			continue
		}
		s.lists[l.stage] = l.list
		span.In, span.Out = s.chunks, len(l.list)
		rankLane(span, l.list)
	}
	if len(s.lists) == 0 {
		return fmt.Errorf("no lane answered: %w: %w", ErrUnavailable, errors.Join(errs...))
	}
	s.setMode()
	return nil
}

// drop leaves a failed lane out of the rest of the search.
func (s *search) drop(stage string) {
	delete(s.lists, stage)
	if stage == StageDense {
		s.dense = false
	} else {
		s.words = false
	}
}

// askDense embeds the question and asks the vector store. A store that cannot filter is asked for more until enough
// of what it gives passes the filter.
func (s *search) askDense(ctx context.Context, k int) ([]Match, error) {
	vector, err := s.embedQuestion(ctx, s.text)
	if err != nil {
		return nil, err
	}
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
	chunks, err := s.catalog.Chunks(ctx, s.q.Collection, ids)
	if err != nil {
		return nil, err
	}
	ok := make(map[string]bool, len(chunks))
	for i := range chunks {
		ok[chunks[i].ID] = s.filter.Match(chunks[i].Fields(), chunks[i].Validity)
	}
	return slices.DeleteFunc(list, func(m Match) bool { return !ok[m.ID] }), nil
}

// laneRanks returns each lane's ranks by chunk ID.
func (s *search) laneRanks() map[string]map[string]Rank {
	ranks := make(map[string]map[string]Rank, len(s.lists))
	for stage, list := range s.lists {
		ranks[stage] = make(map[string]Rank, len(list))
		for i, m := range list {
			ranks[stage][m.ID] = Rank{stage, i + 1, m.Score}
		}
	}
	return ranks
}
