package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// queryPath is where traces of queries are.
const queryPath = "/traces/query"

// queryRoutes registers the page of query traces. A question that is tried changes nothing, so that a server that only reads
// answers it too; since it may cost a chat model's time it is a POST, which no other site can make.
func (s *Server) queryRoutes(on router) {
	on.view(queryPath, "query", s.showQueries)
	on.view(queryPath+"/{id}", "query_trace", s.showQuery)
	on.view(queryPath+"/compare", "query_compare", s.showQueryComparison)
	on.view(queryPath+"/explain", "query_explain", s.showExplanation)
	on.post(queryPath+"/try", "query_trace", 0, s.tryQuery)
}

// tryView is what the form for a question shows.
type tryView struct {
	Try         tryForm  `json:"try"`
	Target      target   `json:"target"` // what is to be explained
	Collections []string `json:"collections"`
	Modes       []string `json:"modes"`
	CanRerank   bool     `json:"can_rerank"`  // a reranker is configured
	CanRewrite  bool     `json:"can_rewrite"` // query transforms are
}

// viewTry fills the form's choices in.
func (s *Server) viewTry(r *request, f tryForm) (tryView, error) {
	c := s.eng.Config()
	v := tryView{
		Try: f, Collections: []string{}, Modes: []string{string(rag.Hybrid), string(rag.Dense), string(rag.Sparse)},
		CanRerank: c.Rerank.Provider != rag.None, CanRewrite: len(c.QueryTransforms) > 0,
	}
	if v.Try.Collection == "" {
		v.Try.Collection = s.o.Collection
	}
	all, err := s.eng.Collections(r.Context())
	for _, c := range all {
		v.Collections = append(v.Collections, c.Name)
	}
	return v, err
}

// queryListView is the page of query traces.
type queryListView struct {
	tryView
	Filter   queryFilter `json:"filter"`
	AllFlags []flag      `json:"-"`
	Rows     []queryRow  `json:"traces"` // newest first
	Pager    pager       `json:"pager"`
	Kept     bool        `json:"kept"` // traces are kept where this server can read them
}

func (s *Server) showQueries(r *request) (any, error) {
	v := queryListView{Filter: readQueryFilter(r.URL.Query()), AllFlags: queryFlags, Rows: []queryRow{}}
	var err error
	if v.tryView, err = s.viewTry(r, readTryForm(r.URL.Query())); err != nil {
		return nil, err
	}
	q, err := v.Filter.query()
	if err != nil {
		return nil, err
	}
	v.Kept = s.o.Traces != nil
	if !v.Kept {
		return v, nil
	}
	page, err := s.o.Traces.List(r.Context(), q)
	if err != nil {
		return nil, err
	}
	v.Rows = queryRows(page.Traces)
	v.Pager = r.pagerAfter(page.Next, page.Next != "")
	return v, nil
}

// getTrace returns a trace of a query: one that was just tried here, or one that was recorded.
func (s *Server) getTrace(r *request, id string) (*rag.Trace, *tried, error) {
	if t := s.tried.get(id); t != nil {
		return t.trace, t, nil
	}
	if s.o.Traces == nil {
		return nil, nil, fmt.Errorf("trace %q is not kept here: %w", id, rag.ErrNotFound)
	}
	t, err := s.o.Traces.Get(r.Context(), id)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(queryTypes, t.Type) {
		return nil, nil, fmt.Errorf("trace %q is not that of a query: %w", id, rag.ErrNotFound)
	}
	return &t, nil, nil
}

// tryQuery runs the question of the form, and goes to its trace, or to a comparison with the one it is put beside.
func (s *Server) tryQuery(r *request) (any, error) {
	f := readTryForm(r.PostForm)
	t, err := s.tryOut(r, &f)
	if err != nil {
		return nil, err
	}
	s.tried.add(t)
	next := s.link(queryPath + "/" + t.trace.ID)
	if f.Against != "" {
		next = s.link(queryPath+"/compare", "a", f.Against, "b", t.trace.ID)
	}
	return redirect(next), nil
}

// tryOut searches, or answers if that is wanted. A search in which every lane failed has a trace too, which says why.
func (s *Server) tryOut(r *request, f *tryForm) (*tried, error) {
	q, err := f.query()
	if err != nil {
		return nil, err
	}
	if f.Answer && s.o.Traces != nil {
		return s.tryAnswer(r, f, q)
	}
	found, err := s.eng.Search(r.Context(), q)
	if err != nil && !errors.Is(err, rag.ErrUnavailable) {
		return nil, err
	}
	trace, kept := asKept(found.Trace)
	if kept != nil {
		return nil, kept
	}
	t := &tried{trace: trace, form: *f}
	if f.Answer && err == nil { // nothing keeps the trace of an answer: that of its search is shown
		t.answer, err = s.eng.Ask(r.Context(), rag.AskRequest{Query: q, Found: found})
		return t, err
	}
	return t, nil
}

// tryAnswer answers, and reads back the trace that the engine recorded.
func (s *Server) tryAnswer(r *request, f *tryForm, q rag.Query) (*tried, error) {
	answer, err := s.eng.Ask(r.Context(), rag.AskRequest{Query: q})
	if err != nil {
		return nil, err
	}
	trace, err := s.o.Traces.Get(r.Context(), answer.TraceID)
	if err != nil {
		return nil, err
	}
	return &tried{trace: &trace, answer: answer, form: *f}, nil
}

// asKept returns a trace as a reader gives it back, with the values of JSON in its details.
func asKept(t *rag.Trace) (*rag.Trace, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var out rag.Trace
	return &out, json.Unmarshal(text, &out)
}
