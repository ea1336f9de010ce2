package rag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag/internal/lang"
)

// QueryTransformer prepares a question for retrieval: it finds other wordings, takes it apart, or makes a question of
// its own of one that only the conversation before it explains.
type QueryTransformer interface {
	// Rewrite says what to look up for the question. Whatever goes wrong, an error or a time limit passed, the engine
	// goes on with the question as it was, and the result says so. A done context ends it soon, with the context's error.
	Rewrite(ctx context.Context, req RewriteRequest) (Rewritten, error)
}

// RewriteRequest is a question to be prepared.
type RewriteRequest struct {
	Query    string        // valid UTF-8 with one blank between words, never empty
	Turns    []ChatMessage // the conversation before it, oldest first; nil: the question stands for itself
	Language string        // of Query, BCP 47; "" if it cannot be told
}

// Rewritten is what a transformer makes of a question. The zero value leaves it as it is.
type Rewritten struct {
	// Text stands in place of the question; "" leaves it. Only where there are Turns: a question that stands for itself
	// is never taken out of the search, so without Turns the engine looks Text up beside it.
	Text string
	Also []SubQuery // looked up beside the question
	// Fallback says why less was done than asked, as when a chat model did not answer and rules stood in; "": it was not.
	Fallback string
	Detail   map[string]any // for the trace; nil: nothing
}

// Rewrite is what one query transform did in a search. Its JSON form stands in the results of `rag search --json` and in
// traces.
type Rewrite struct {
	Method    string         `json:"method"`           // the provider: "multi_query"
	Status    string         `json:"status,omitempty"` // SpanFailed or SpanLeftOut; "": it ran
	ElapsedMS float64        `json:"elapsed_ms"`
	Original  string         `json:"original"`         // the question it was given
	Text      string         `json:"text"`             // the question after it
	Also      []SubQuery     `json:"also"`             // what it adds; never null
	Reason    string         `json:"reason,omitempty"` // why less was done than asked
	Detail    map[string]any `json:"details,omitempty"`
}

// namedTransform is a query transformer with the name of its provider.
type namedTransform struct {
	name string
	QueryTransformer
}

// buildQueryTransforms takes the query transformers given as an option, or makes the configured ones.
func (e *Engine) buildQueryTransforms(s *settings, env Env) error {
	for _, t := range s.queryTransformers {
		e.queryTransforms = append(e.queryTransforms, namedTransform{providerName(t), t})
	}
	if s.queryTransformers != nil {
		return nil
	}
	for i, c := range s.config.QueryTransforms {
		t, err := s.providers.QueryTransformers.make(fmt.Sprintf("query_transforms.%d", i), c, env)
		if err != nil {
			return err
		}
		e.own(t)
		e.queryTransforms = append(e.queryTransforms, namedTransform{c.Provider, t})
	}
	return nil
}

// rewrite has the query transforms prepare the question. While a conversation stands before it they take turns, since
// one may make a question of its own of it; then the conversation has done its part, and the rest run at once.
func (s *search) rewrite(ctx context.Context) error {
	if len(s.queryTransforms) == 0 || s.q.AsIs {
		return nil
	}
	defer s.end(s.spans[StageQuery], s.now())
	if _, err := s.existing(ctx, s.q.Collection); err != nil { // before anything is asked that costs
		return err
	}
	turns, rest := s.q.Turns, s.queryTransforms
	for len(rest) > 0 {
		group := rest
		if len(turns) > 0 {
			group = rest[:1]
		}
		req := RewriteRequest{Query: s.text, Turns: turns, Language: lang.Detect(s.text)}
		for _, r := range s.transformAll(ctx, group, req) {
			s.takeRewrite(r)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.text != req.Query {
			turns = nil
		}
		rest = rest[len(group):]
	}
	return nil
}

// transformAll asks some transformers at once; what they say is in their order.
func (s *search) transformAll(ctx context.Context, group []namedTransform, req RewriteRequest) []Rewrite {
	out := make([]Rewrite, len(group))
	var wg sync.WaitGroup
	for i, t := range group {
		wg.Go(func() { out[i] = s.transform(ctx, t, req) })
	}
	wg.Wait()
	return out
}

// transform asks one transformer, within the time limit.
func (s *search) transform(ctx context.Context, t namedTransform, req RewriteRequest) Rewrite {
	r := Rewrite{Method: t.name, Original: req.Query, Text: req.Query, Also: []SubQuery{}}
	if s.quotesPhrase() {
		r.Status, r.Reason = SpanLeftOut, "the question quotes a phrase, and asks for its words as they stand"
		return r
	}
	start := s.now()
	budget := time.Duration(s.config.Retrieval.RewriteMS) * time.Millisecond
	got, err := within(ctx, &s.late, "the transformer", budget, func(ctx context.Context) (Rewritten, error) {
		req.Turns = slices.Clone(req.Turns)
		return t.Rewrite(ctx, req)
	})
	r.ElapsedMS = milliseconds(s.now().Sub(start))
	if err == nil {
		err = validateAlso(got.Also)
	}
	if err != nil {
		r.Status, r.Reason = SpanFailed, err.Error()
		return r
	}
	r.Also, r.Reason, r.Detail = append(r.Also, got.Also...), got.Fallback, got.Detail
	switch text := cmp.Or(oneSpaced(got.Text), req.Query); {
	case text == req.Query:
	case len(req.Turns) > 0:
		r.Text = text
	default:
		r.Also = append([]SubQuery{{Text: text}}, r.Also...)
	}
	return r
}

// takeRewrite keeps what a transform did, as far as there is room for sub-queries.
func (s *search) takeRewrite(r Rewrite) {
	if room := MaxSubQueries - len(s.also); len(r.Also) > room {
		r.Reason = fmt.Sprintf("%d sub-queries are left out: the most is %d", len(r.Also)-room, MaxSubQueries)
		r.Also = r.Also[:room]
	}
	if r.Reason != "" && r.Status != SpanLeftOut {
		s.result.Notes = append(s.result.Notes, Note{StageQuery, r.Method + ": " + r.Reason})
	}
	s.text, s.also = r.Text, append(s.also, r.Also...)
	s.result.Rewrites = append(s.result.Rewrites, r)
}
