package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
)

const (
	results = 10
	warmUp  = 50 // questions asked before those that count
	few     = 20 // questions of a kind for which an engine may have to read much
)

// kind is a kind of question.
type kind struct {
	name   string
	filter rag.Filter
	words  bool // also asked of words
	slow   bool // only a few are asked
}

// numbers are how many questions are asked before those that count, and how many count.
func (k kind) numbers(d *data) (before, counted int) {
	if k.slow {
		return 1, min(few, len(d.questions))
	}
	return min(warmUp, len(d.questions)), len(d.questions)
}

var kinds = []kind{
	{name: "everything", words: true},
	{name: "50 %", filter: rag.Eq("half", "1"), words: true},
	{name: "1 %", filter: rag.Eq("hundredth", "7"), words: true},
	{name: "0.1 %", filter: rag.Eq("thousandth", "7"), words: true},
	{name: "1 %, a range", filter: rag.Range(placeField, rag.Bounds{LT: places / 100}), slow: true},
}

// asked is what one kind of question told of one engine.
type asked struct {
	kind     string
	engine   string
	first    time.Duration // the first question of this kind
	p50, p99 time.Duration
	short    int     // questions with fewer results than there are
	found    ir.Mean // share of the results wanted: the exact ones of vectors, those of the embedded index of words
	ndcg     ir.Mean // of documents, at 10
	times    []time.Duration
}

// askVectors asks all questions of all engines, which take turns, and compares the answers with exact ones.
func askVectors(ctx context.Context, d *data, engines []*engine) (all []*asked, err error) {
	for _, k := range kinds {
		exact := d.exact(k.filter)
		told, err := askAll(d, k, engines, func(e *engine, q int) ([]rag.Match, error) {
			return e.vectors.Search(ctx, collection, rag.VectorQuery{Vector: d.questions[q].vector, K: results, Filter: k.filter})
		}, func(q int, _ [][]rag.Match) []rag.Match { return exact[q] })
		if err != nil {
			return nil, err
		}
		all = append(all, told...)
	}
	return all, nil
}

// askWords asks the engines that have words, and compares the answers with the first one's.
func askWords(ctx context.Context, d *data, engines []*engine) (all []*asked, err error) {
	with := slices.DeleteFunc(slices.Clone(engines), func(e *engine) bool { return e.words == nil })
	for _, k := range kinds {
		if !k.words {
			continue
		}
		told, err := askAll(d, k, with, func(e *engine, q int) ([]rag.Match, error) {
			return e.words.Search(ctx, collection, rag.SparseQuery{Text: d.questions[q].text, K: results, Filter: k.filter})
		}, func(_ int, answers [][]rag.Match) []rag.Match { return answers[0] })
		if err != nil {
			return nil, err
		}
		all = append(all, told...)
	}
	return all, nil
}

// askAll asks questions of one kind; wanted tells by the number of a question and the engines' answers what is right.
func askAll(d *data, k kind, engines []*engine, ask func(e *engine, q int) ([]rag.Match, error), wanted func(q int, answers [][]rag.Match) []rag.Match) ([]*asked, error) {
	before, counted := k.numbers(d)
	told := make([]*asked, len(engines))
	for i, e := range engines {
		told[i] = &asked{kind: k.name, engine: e.name}
		for q := range before {
			start := time.Now()
			if _, err := ask(e, q); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.name, k.name, err)
			}
			if q == 0 {
				told[i].first = time.Since(start)
			}
		}
	}
	answers := make([][]rag.Match, len(engines))
	for q := range counted {
		for i := range engines {
			i = (i + q) % len(engines)
			start := time.Now()
			got, err := ask(engines[i], q)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", engines[i].name, k.name, err)
			}
			told[i].times = append(told[i].times, time.Since(start))
			answers[i] = got
		}
		want := wanted(q, answers)
		for i, got := range answers {
			told[i].add(d, q, got, want)
		}
	}
	for _, t := range told {
		slices.Sort(t.times)
		t.p50, t.p99 = t.times[len(t.times)/2], t.times[len(t.times)*99/100]
		say("%s, %s: p50 %v", t.engine, t.kind, t.p50)
	}
	return told, nil
}

// add judges an answer.
func (t *asked) add(d *data, q int, got, want []rag.Match) {
	if len(got) < len(want) {
		t.short++
	}
	for _, w := range want {
		found := 0.0
		if slices.ContainsFunc(got, func(m rag.Match) bool { return m.ID == w.ID }) {
			found = 1
		}
		t.found.Add(found)
	}
	if judged := d.questions[q].judged; judged.Relevant() > 0 {
		t.ndcg.Add(ir.NDCG(d.documents(got), judged, results))
	}
}

// documents are those of chunks, each once.
func (d *data) documents(matches []rag.Match) (docs []string) {
	for _, m := range matches {
		if doc := d.docOf[m.ID]; !slices.Contains(docs, doc) {
			docs = append(docs, doc)
		}
	}
	return docs
}

// exact compares every chunk that matches a filter with every question.
func (d *data) exact(f rag.Filter) [][]rag.Match {
	var allowed []chunk
	for _, c := range d.chunks {
		if f.Match(c.Meta, c.Validity) {
			allowed = append(allowed, c)
		}
	}
	better := func(a, b rag.Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }
	best := make([][]rag.Match, len(d.questions))
	for q, question := range d.questions {
		var list []rag.Match // the best so far
		for _, c := range allowed {
			m := rag.Match{ID: c.ID, Score: dot(c.vector, question.vector)}
			if at, _ := slices.BinarySearchFunc(list, m, better); at < results {
				list = slices.Insert(list, at, m)
				list = list[:min(results, len(list))]
			}
		}
		best[q] = list
	}
	return best
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
