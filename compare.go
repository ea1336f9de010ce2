package rag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// CompareRequest says what to compare the engine with. Only With must be given.
type CompareRequest struct {
	With       *Engine  // the other store
	Collection string   // on both sides; "" means Config.Collection
	Questions  []string // what is asked on both sides; nil: beginnings of passages
	Samples    int      // questions that are made without Questions; 0: 50
	K          int      // hits that are compared; 0: 5
	Overlap    float64  // least mean overlap, 0 to 1; 0: 0.90
}

const (
	defaultSamples = 50
	defaultCompare = 5
	defaultOverlap = 0.90

	// sampleRunes is how much of a passage makes a question: a sentence or two.
	sampleRunes = 160
	// mostDifferences is how many documents of a kind a report names.
	mostDifferences = 100
)

// CompareReport says how far two stores have the same. Its JSON form is what `rag verify --against --json` prints.
type CompareReport struct {
	Collection string       `json:"collection"`
	OK         bool         `json:"ok"` // the same documents and passages, and the overlap is not below the least
	Documents  [2]int       `json:"documents"`
	Chunks     [2]int       `json:"chunks"`
	Images     [2]int       `json:"images"`
	Missing    []string     `json:"missing"`   // URIs that only the other store has, the first 100
	Extra      []string     `json:"extra"`     // URIs that only this one has, the first 100
	Different  []string     `json:"different"` // URIs of which source, metadata or passages differ, the first 100
	Differing  int          `json:"differing"` // documents of all three kinds
	K          int          `json:"k"`
	Asked      int          `json:"asked"`   // questions
	Overlap    float64      `json:"overlap"` // mean over the questions of the Jaccard index of the first K passages of both
	Least      float64      `json:"least"`   // the overlap must not be below
	Worst      []OverlapGap `json:"worst"`   // questions with the least overlap, if below 1; at most 5
}

// OverlapGap is a question that two stores answer differently.
type OverlapGap struct {
	Question string  `json:"question"`
	Overlap  float64 `json:"overlap"`
}

// mostWorst is how many questions a report names.
const mostWorst = 5

// Compare holds the engine's collection against that of another store: whether both have the same documents, made of the
// same passages, and how far the first hits of the same questions agree, without reranking or query transforms. The overlap of two
// lists is what both have of all that they have (Jaccard). Ties may be cut differently, so it need not be 1.
func (e *Engine) Compare(ctx context.Context, req CompareRequest) (_ *CompareReport, err error) {
	defer e.hide(&err)
	if err := copyable(e, req.With); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	if req.Samples < 0 || req.K < 0 || req.Overlap < 0 || req.Overlap > 1 {
		return nil, fmt.Errorf("compare: samples %d, k %d, overlap %v: the overlap is from 0 to 1, the others not negative: %w", req.Samples, req.K, req.Overlap, ErrInvalid)
	}
	req.Samples, req.K, req.Overlap = cmp.Or(req.Samples, defaultSamples), cmp.Or(req.K, defaultCompare), cmp.Or(req.Overlap, defaultOverlap)
	name := e.collection(req.Collection)
	rep := &CompareReport{Collection: name, K: req.K, Least: req.Overlap, Missing: []string{}, Extra: []string{}, Different: []string{}, Worst: []OverlapGap{}}
	for i, side := range []*Engine{e, req.With} {
		info, err := side.existing(ctx, name)
		if err != nil {
			return nil, err
		}
		rep.Documents[i], rep.Chunks[i], rep.Images[i] = info.Documents, info.Chunks, info.Images
	}
	if err := rep.ledgers(ctx, e, req.With); err != nil {
		return nil, err
	}
	if req.Questions == nil {
		var err error
		if req.Questions, err = e.sampleQuestions(ctx, name, rep.Chunks[0], req.Samples); err != nil {
			return nil, err
		}
	}
	if err := rep.ask(ctx, e, req.With, req.Questions); err != nil {
		return nil, err
	}
	rep.OK = rep.Differing == 0 && rep.Chunks[0] == rep.Chunks[1] && rep.Images[0] == rep.Images[1] && rep.Overlap >= rep.Least
	return rep, nil
}

// ledgers compares what both list, URI by URI.
func (r *CompareReport) ledgers(ctx context.Context, here, there *Engine) error {
	left := map[string]Entry{}
	for entry, err := range here.catalog.Entries(ctx, r.Collection, "", "") {
		if err != nil {
			return err
		}
		left[entry.URI] = entry
	}
	note := func(list *[]string, uri string) {
		r.Differing++
		if len(*list) < mostDifferences {
			*list = append(*list, uri)
		}
	}
	for entry, err := range there.catalog.Entries(ctx, r.Collection, "", "") {
		if err != nil {
			return err
		}
		mine, ok := left[entry.URI]
		delete(left, entry.URI)
		switch {
		case !ok:
			note(&r.Missing, entry.URI)
		case mine.Digest != entry.Digest || mine.MetaDigest != entry.MetaDigest || !slices.Equal(mine.Chunks, entry.Chunks):
			note(&r.Different, entry.URI)
		}
	}
	var extra []string
	for uri := range left {
		extra = append(extra, uri)
	}
	slices.Sort(extra)
	for _, uri := range extra {
		note(&r.Extra, uri)
	}
	return nil
}

// sampleQuestions makes questions of the beginnings of passages that lie evenly over the collection.
func (e *Engine) sampleQuestions(ctx context.Context, name string, chunks, n int) ([]string, error) {
	var questions []string
	i, step := 0, max(1, chunks/n)
	for c, err := range e.catalog.Scan(ctx, name, Filter{}) {
		if err != nil {
			return nil, err
		}
		if i++; (i-1)%step != 0 {
			continue
		}
		if q := opening(c.Text); q != "" {
			questions = append(questions, q)
		}
		if len(questions) == n {
			break
		}
	}
	return questions, nil
}

// opening is the beginning of a text on one line, without what a query gives a meaning of its own.
func opening(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"“”„«»「」『』*", r) {
			return ' '
		}
		return r
	}, text)), " ")
	if utf8.RuneCountInString(text) > sampleRunes {
		text = string([]rune(text)[:sampleRunes])
	}
	return text
}

// ask asks both sides the same questions. Without any, nothing is known to differ.
func (r *CompareReport) ask(ctx context.Context, here, there *Engine, questions []string) error {
	r.Asked, r.Overlap = len(questions), 1
	sum := 0.0
	for _, q := range questions {
		var lists [2][]string
		for i, side := range []*Engine{here, there} {
			found, err := side.probe(ctx, Query{Text: q, Collection: r.Collection, TopK: r.K, AsIs: true, NoRerank: true})
			if err != nil {
				return fmt.Errorf("ask %q: %w", q, err)
			}
			for _, h := range found.result.Hits {
				lists[i] = append(lists[i], h.Chunk.ID)
			}
		}
		overlap := overlapOf(lists[0], lists[1])
		sum += overlap
		if overlap < 1 {
			r.Worst = append(r.Worst, OverlapGap{q, overlap})
		}
	}
	if len(questions) > 0 {
		r.Overlap = sum / float64(len(questions))
	}
	slices.SortStableFunc(r.Worst, func(a, b OverlapGap) int {
		return cmp.Or(cmp.Compare(a.Overlap, b.Overlap), cmp.Compare(a.Question, b.Question))
	})
	r.Worst = r.Worst[:min(len(r.Worst), mostWorst)]
	return nil
}

// overlapOf is what two lists have in common, of all that they have; 1 if both are empty.
func overlapOf(a, b []string) float64 {
	all := map[string]int{}
	for _, list := range [][]string{a, b} {
		for _, id := range list {
			all[id]++
		}
	}
	if len(all) == 0 {
		return 1
	}
	both := 0
	for _, n := range all {
		if n > 1 {
			both++
		}
	}
	return float64(both) / float64(len(all))
}
