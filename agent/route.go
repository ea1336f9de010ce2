package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Decision is what a router makes of a question.
type Decision struct {
	Intent     string     `json:"intent"`                // name of a label
	Confidence float64    `json:"confidence"`            // 0 to 1: how sure the router is
	Filters    rag.Filter `json:"extracted_filters"`     // what the question itself says about where to look; zero: nothing
	Collection string     `json:"collection,omitempty"`  // collection that the question names; "": none
	SubQueries []string   `json:"sub_queries,omitempty"` // the sides of a comparison
	Reasoning  string     `json:"reasoning,omitempty"`   // one sentence, of the rule or of the model
	By         string     `json:"by"`                    // ByRule, ByModel or ByDefault

	Label Label `json:"-"` // the label of this name, with what is to be done
}

// Who made a decision.
const (
	ByRule    = "rule"
	ByModel   = "model"
	ByDefault = "default" // nothing fitted, or the model could not be read
)

// Confidences of decisions without a model, and of what a model left out, as System D has them.
const (
	sureOfTalk  = 0.99
	sureOfMeta  = 0.95
	sureOfWords = 0.9 // a label known by its words, a comparison by its form, a filter by the names in it
	notSaid     = 0.5 // the model gave no confidence
	fallback    = 0.3
)

// Router decides what is to be done with a question. Make one with [NewRouter]; it is safe for concurrent use if the model
// is.
type Router struct {
	labels LabelSet
	model  rag.ChatModel // nil: rules only
}

// NewRouter returns a router that chooses among the labels: by rules alone where model is nil. A set that cannot be right is
// ErrInvalid.
func NewRouter(labels LabelSet, model rag.ChatModel) (*Router, error) {
	if err := labels.check(); err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	return &Router{labels, model}, nil
}

// Route decides by rules whether a question is small talk, which takes less than a millisecond, and asks the model about
// every other one; without a model the rules decide all. Fields say what a question can name. Whatever goes wrong with the
// model makes it a search; only the end of ctx is an error.
func (r *Router) Route(ctx context.Context, question string, fields []Field) (Decision, error) {
	t := readText(question)
	if d, ok := r.talk(t); ok {
		return d, nil
	}
	if r.model == nil || len(r.offered()) == 0 {
		return r.byRules(t, fields), nil
	}
	d, err := r.ask(ctx, question, t, fields)
	if ctx.Err() != nil {
		return Decision{}, ctx.Err()
	}
	if err != nil {
		d = r.decide(string(ActSearch), fallback, ByDefault, err.Error())
		d.scope(namedScope(t, fields))
	}
	return d, nil
}

// talk recognises small talk and questions about the assistant. A set without a label for them refuses them where it can.
func (r *Router) talk(t text) (Decision, bool) {
	kind := classifyTalk(t.folded)
	label, ok := r.labels.first(ActChat, ActRefuse)
	switch {
	case !ok || kind == noTalk:
		return Decision{}, false
	case kind == meta:
		return r.decide(label.Name, sureOfMeta, ByRule, "it asks about the assistant"), true
	}
	return r.decide(label.Name, sureOfTalk, ByRule, "it is small talk"), true
}

// byRules decides without a model: comparisons by their form, other labels by their words and by named values.
func (r *Router) byRules(t text, fields []Field) Decision {
	scope := namedScope(t, fields)
	d := r.decide(r.labels.Default, fallback, ByDefault, "no rule fits")
	if label, ok := r.labels.first(ActCompare); ok {
		if a, b, ok := sides(t.question); ok {
			d = r.decide(label.Name, sureOfWords, ByRule, fmt.Sprintf("it compares %q and %q", a, b))
			d.SubQueries = subQueries(a, b)
		}
	}
	if d.By == ByDefault {
		if i := slices.IndexFunc(r.labels.Labels, func(l Label) bool { return t.has(l.Words) }); i >= 0 {
			d = r.decide(r.labels.Labels[i].Name, sureOfWords, ByRule, "it has a word of this label")
		} else if label, ok := r.labels.first(ActFilter); ok && (!scope.filter.IsZero() || scope.collection != "") {
			d = r.decide(label.Name, sureOfWords, ByRule, "it names where to look")
		}
	}
	d.scope(scope)
	return d
}

// decide makes a decision for a label.
func (r *Router) decide(intent string, confidence float64, by, reasoning string) Decision {
	return Decision{Intent: intent, Confidence: confidence, By: by, Reasoning: reasoning, Label: r.labels.named(intent)}
}

// scope adds where to look, for labels that search.
func (d *Decision) scope(n named) {
	if d.Label.Action != ActChat && d.Label.Action != ActRefuse {
		d.Filters, d.Collection = n.filter, n.collection
	}
}

// mostSubQueries is how many sides a comparison has at most.
const mostSubQueries = 3

// sidesOf completes the sides of a comparison: those that the model gave, if they are two at least, else those of the rules.
func sidesOf(given []string, t text) []string {
	var out []string
	for _, s := range given {
		s = strings.Join(strings.Fields(s), " ")
		if s != "" && len(s) <= longestSide && !slices.Contains(out, s) && len(out) < mostSubQueries {
			out = append(out, s)
		}
	}
	if len(out) > 1 {
		return out
	}
	if a, b, ok := sides(t.question); ok {
		return subQueries(a, b)
	}
	return nil
}
