package rag

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Remedy is a change to a query, or to how an answer is made, that would have kept a passage.
type Remedy struct {
	Setting string `json:"setting"` // one of the Remedy constants
	Value   any    `json:"value"`   // what it is to be: see the constants
}

// What can be changed.
const (
	RemedyTopK           = "top_k"            // int
	RemedyFilter         = "filter"           // Filter: the conditions that may stay; zero: none
	RemedyExpired        = "expired"          // true
	RemedyMode           = "mode"             // Mode
	RemedyPhrase         = "phrase"           // false
	RemedyCollapse       = "collapse"         // 0.0
	RemedyMaxPerDocument = "max_per_document" // 0
	RemedyPassages       = "answer.passages"  // int; of the configuration
	RemedyContextTokens  = "context_tokens"   // int; of [AskRequest]
)

// Apply changes a query; ok is false for a change that is not one of the query.
func (r Remedy) Apply(q *Query) (ok bool) {
	switch v := r.Value.(type) {
	case int:
		switch r.Setting {
		case RemedyTopK:
			q.TopK = v
		case RemedyMaxPerDocument:
			q.MaxPerDocument = &v
		default:
			return false
		}
	case float64:
		q.Collapse = &v
	case Filter:
		q.Filter = v
	case Mode:
		q.Mode = v
	case bool:
		if r.Setting == RemedyExpired {
			q.Expired = v
		} else {
			q.Match.Phrase = v
		}
	}
	return true
}

// inWords tells changes to a reader.
func inWords(remedies []Remedy) string {
	words := make([]string, len(remedies))
	for i, r := range remedies {
		words[i] = r.String()
	}
	return strings.Join(words, " and ")
}

// String returns the change in words: "top_k of 12".
func (r Remedy) String() string {
	switch f, _ := r.Value.(Filter); {
	case r.Setting == RemedyExpired:
		return "asking for what is expired too (--expired)"
	case r.Setting == RemedyPhrase:
		return "looking for the words and not for the phrase"
	case r.Setting == RemedyFilter && f.IsZero():
		return "no filter"
	case r.Setting == RemedyFilter:
		return "the filter " + f.String()
	}
	return fmt.Sprintf("%s of %v", r.Setting, r.Value)
}

// mostTried is the greatest top_k that is tried: nobody reads more hits.
const mostTried = 1000

// nearest returns the changes with which the search returns the chunk, after trying them; nil if none of those that are
// tried does. Those that must be come first, then one of a few, and the smallest top_k that does.
func (w *explaining) nearest(ctx context.Context) ([]Remedy, error) {
	must := []Remedy{}
	if failing := w.failing(); len(failing) > 0 {
		var stay []Filter
		for _, f := range parts(w.asked.q.Filter) {
			if f.Match(w.chunk.Fields(), w.chunk.Validity) && !f.IsZero() {
				stay = append(stay, f)
			}
		}
		rest := Filter{}
		if len(stay) > 0 {
			rest = And(stay...)
		}
		must = append(must, Remedy{RemedyFilter, rest})
	}
	if w.outOfForce() {
		must = append(must, Remedy{RemedyExpired, true})
	}
	for _, also := range w.alternatives() {
		changes := append(slices.Clone(must), also...)
		k, err := w.smallestTopK(ctx, changes)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			continue
		}
		if k != w.asked.q.TopK {
			changes = append(changes, Remedy{RemedyTopK, k})
		}
		return changes, nil
	}
	return nil, nil
}

// alternatives are what may help besides a greater top_k, the most likely first.
func (w *explaining) alternatives() [][]Remedy {
	duplicates, perDocument := Remedy{RemedyCollapse, 0.0}, Remedy{RemedyMaxPerDocument, 0}
	phrase, hybrid := Remedy{RemedyPhrase, false}, Remedy{RemedyMode, Hybrid}
	var list [][]Remedy
	if why := w.asked.fell[w.chunk.ID]; strings.HasPrefix(why, "near-duplicate") {
		list = append(list, []Remedy{duplicates})
	} else if why != "" {
		list = append(list, []Remedy{perDocument})
	}
	list = append(list, nil)
	q, shaping := &w.asked.q, w.asked.shaping
	collapses, bounds := shaping.collapse > 0, shaping.perDocument > 0
	one := w.embedder != nil && q.Mode != Hybrid && w.lanes[StageDense] == nil
	for _, a := range []struct {
		may bool
		all []Remedy
	}{
		{collapses, []Remedy{duplicates}},
		{bounds, []Remedy{perDocument}},
		{collapses && bounds, []Remedy{duplicates, perDocument}},
		{q.Match.Phrase, []Remedy{phrase}},
		{one, []Remedy{hybrid}},
		{one && q.Match.Phrase, []Remedy{phrase, hybrid}},
	} {
		if a.may {
			list = append(list, a.all)
		}
	}
	return list
}

// smallestTopK returns the smallest top_k of those tried with which the changed search returns the chunk; 0 if none does.
// It is at least the one that was asked for.
func (w *explaining) smallestTopK(ctx context.Context, changes []Remedy) (int, error) {
	q := w.asked.q // as it was looked up: no transform is asked again
	q.Text, q.Also, q.AsIs, q.Turns, q.Progress = w.asked.text, w.asked.also, true, nil, nil
	for _, c := range changes {
		c.Apply(&q)
	}
	returns := func(topK int) (bool, error) {
		q.TopK = topK
		s := newSearch(w.Engine, q)
		err := s.do(ctx)
		return err == nil && findHit(s.hits, w.chunk.ID) >= 0, err
	}
	low, high := w.asked.q.TopK, min(mostTried, w.asked.stored.Chunks)
	if len(changes) > 0 {
		if ok, err := returns(low); ok || err != nil {
			return low, err
		}
	}
	if high <= low {
		return 0, nil
	}
	if ok, err := returns(high); !ok || err != nil {
		return 0, err
	}
	// Likely are the places that the chunk has in the lists that are known; halving finds any other.
	for _, guess := range []int{findHit(w.asked.pool, w.chunk.ID) + 1, w.fused[w.chunk.ID]} {
		for _, k := range []int{guess, guess - 1} {
			if k <= low || k >= high {
				continue
			}
			ok, err := returns(k)
			switch {
			case err != nil:
				return 0, err
			case ok:
				high = k
			default:
				low = k
			}
		}
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		ok, err := returns(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = middle
		default:
			low = middle
		}
	}
	return high, nil
}

// UnmarshalJSON reads a change with the type of value that its setting has.
func (r *Remedy) UnmarshalJSON(b []byte) error {
	var raw struct {
		Setting string          `json:"setting"`
		Value   json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	r.Setting = raw.Setting
	var err error
	switch raw.Setting {
	case RemedyTopK, RemedyMaxPerDocument, RemedyPassages, RemedyContextTokens:
		r.Value, err = readAs[int](raw.Value)
	case RemedyFilter:
		r.Value, err = readAs[Filter](raw.Value)
	case RemedyMode:
		r.Value, err = readAs[Mode](raw.Value)
	case RemedyCollapse:
		r.Value, err = readAs[float64](raw.Value)
	case RemedyExpired, RemedyPhrase:
		r.Value, err = readAs[bool](raw.Value)
	default:
		err = fmt.Errorf("unknown setting %q of a change: %w", raw.Setting, ErrInvalid)
	}
	return err
}

func readAs[T any](raw json.RawMessage) (value T, err error) {
	err = json.Unmarshal(raw, &value)
	return value, err
}
