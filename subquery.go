package rag

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SubQuery is a text that a search looks up beside the question: another wording of it, a part of it, or a passage such as
// an answer may stand in. Each text has lists of its own in the lanes, and all lists are fused at once: a lane keeps its
// weight and shares it out among its texts, so that more texts do not make one lane louder than the other.
//
// The question alone decides what is reranked and how: sub-queries bring candidates.
type SubQuery struct {
	Text   string    `json:"text"`
	Role   EmbedRole `json:"role,omitempty"`   // "" or AsQuestion: both lanes; AsPassage: the dense lane alone, embedded as passages are (HyDE)
	Weight float64   `json:"weight,omitempty"` // beside the question's, which is 1; 0: 1
}

// MaxSubQueries is how many sub-queries a search has at most: each asks both indexes.
const MaxSubQueries = 16

// validate reports what cannot be looked up.
func (q SubQuery) validate() error {
	switch {
	case oneSpaced(q.Text) == "":
		return fmt.Errorf("the text is empty: %w", ErrInvalid)
	case q.Role != "" && q.Role != AsQuestion && q.Role != AsPassage:
		return fmt.Errorf("unknown role %q (known: %s, %s): %w", q.Role, AsQuestion, AsPassage, ErrInvalid)
	case !isWeight(q.Weight):
		return fmt.Errorf("the weight is %v: it must not be negative: %w", q.Weight, ErrInvalid)
	}
	return nil
}

// isWeight reports whether x is neither negative nor infinite nor NaN.
func isWeight(x float64) bool { return x >= 0 && x-x == 0 }

// validateAlso reports the first sub-query that cannot be looked up, and too many.
func validateAlso(also []SubQuery) error {
	if len(also) > MaxSubQueries {
		return fmt.Errorf("%d sub-queries: the most is %d: %w", len(also), MaxSubQueries, ErrInvalid)
	}
	for i, q := range also {
		if err := q.validate(); err != nil {
			return fmt.Errorf("sub-query %d: %w", i+1, err)
		}
	}
	return nil
}

// oneSpaced returns a text as it is looked up: valid UTF-8 with one blank between words.
func oneSpaced(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, " ")), " ")
}

// lookup is a text that a search looks up.
type lookup struct {
	SubQuery
	dense, words bool          // lanes that it goes to
	vector       []float32     // nil until the dense lane has embedded it
	embedding    time.Duration // that this took
}

// in reports whether the text goes to a lane.
func (l *lookup) in(stage string) bool {
	if stage == StageDense {
		return l.dense
	}
	return l.words
}

// leaveOut takes the text out of a lane.
func (l *lookup) leaveOut(stage string) {
	if stage == StageDense {
		l.dense = false
	} else {
		l.words = false
	}
}

// planLookups makes the list of what is looked up: the question first, then the sub-queries, each once, in all lanes of
// the search that can take it.
func (s *search) planLookups() {
	s.lookups = s.lookups[:0]
	for _, q := range append([]SubQuery{{Text: s.text}}, s.also...) {
		q.Text = oneSpaced(q.Text)
		if q.Role == AsQuestion {
			q.Role = ""
		}
		if q.Weight == 0 {
			q.Weight = 1
		}
		if !slices.ContainsFunc(s.lookups, func(l lookup) bool { return l.Text == q.Text && l.Role == q.Role }) {
			s.lookups = append(s.lookups, lookup{SubQuery: q, dense: s.dense, words: s.words && q.Role != AsPassage})
		}
	}
}

// lookedUp lists the texts for the trace.
func (s *search) lookedUp() []SubQuery {
	list := make([]SubQuery, len(s.lookups))
	for i, l := range s.lookups {
		list[i] = l.SubQuery
	}
	return list
}
