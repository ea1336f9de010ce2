package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore"
)

const (
	collection = "scale"
	batch      = 1000 // records of an upsert
)

// Built is what building told.
type Built struct {
	N            int
	Build, Close time.Duration
	MostBuilding int64 // bytes
}

// build writes a collection. The time to make the vectors does not count.
func build(ctx context.Context, dir string, o options) (r Built, err error) {
	r.N = o.N
	h, err := vectorstore.OpenHNSW(dir, o.Store)
	if err != nil {
		return r, err
	}
	from := newSource(o.Dims, 1)
	for at := 0; at < o.N; at += batch {
		recs := from.records(at, min(batch, o.N-at))
		start := time.Now()
		if err := h.Upsert(ctx, collection, recs); err != nil {
			return r, errors.Join(err, h.Close())
		}
		r.Build += time.Since(start)
	}
	start := time.Now()
	err = h.Close()
	r.Close = time.Since(start)
	_, r.MostBuilding = memory()
	return r, err
}

// Searched is what searching told.
type Searched struct {
	First   time.Duration // from opening to the first answer
	Memory  int64         // bytes, after the questions
	Queries []Asked
}

// Asked is what one kind of question told.
type Asked struct {
	Name     string
	P50, P99 time.Duration
	Recall   float64 // -1: not measured
}

// search opens a collection and asks.
func search(ctx context.Context, dir string, o options) (r Searched, err error) {
	from := newSource(o.Dims, 2)
	questions := make([][]float32, o.Questions)
	for i := range questions {
		questions[i] = from.vector()
	}
	before, _ := memory()
	start := time.Now()
	h, err := vectorstore.OpenHNSW(dir, o.Store)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if _, err := h.Search(ctx, collection, rag.VectorQuery{Vector: questions[0], K: 10}); err != nil {
		return r, err
	}
	r.First = time.Since(start)
	if _, err := h.MeasureRecall(ctx, collection); err != nil { // the graph is whole from here on
		return r, err
	}
	answers := map[string][][]rag.Match{}
	for _, kind := range kinds() {
		var asked Asked
		asked.Name, asked.Recall = kind.name, -1
		var times []time.Duration
		for _, v := range questions {
			start := time.Now()
			got, err := h.Search(ctx, collection, rag.VectorQuery{Vector: v, K: kind.k, Filter: kind.filter})
			if err != nil {
				return r, err
			}
			times = append(times, time.Since(start))
			if len(answers[kind.name]) < exactQuestions {
				answers[kind.name] = append(answers[kind.name], got)
			}
		}
		slices.Sort(times)
		asked.P50, asked.P99 = times[len(times)/2], times[len(times)*99/100]
		r.Queries = append(r.Queries, asked)
	}
	runtime.GC()
	debug.FreeOSMemory()
	now, _ := memory()
	r.Memory = now - before
	if !o.Exact {
		return r, nil
	}
	flat, err := vectorstore.OpenFlat(dir, vectorstore.FlatConfig{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, flat.Close()) }()
	for i, kind := range kinds() {
		if r.Queries[i].Recall, err = recall(ctx, flat, kind, questions, answers[kind.name]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// kind is a kind of question.
type kind struct {
	name   string
	k      int
	filter rag.Filter
}

func kinds() []kind {
	part := func(of float64) rag.Filter { return rag.Range(share, rag.Bounds{LT: shares * of}) }
	return []kind{
		{name: "10 nearest", k: 10}, {name: "100 nearest", k: 100},
		{"10 nearest of 50 %", 10, part(0.5)}, {"10 nearest of 20 %", 10, part(0.2)}, {"10 nearest of 5 %", 10, part(0.05)},
		{"10 nearest of 1 %", 10, part(0.01)}, {"10 nearest of 0.1 %", 10, part(0.001)}, {"10 nearest of 0.01 %", 10, part(0.0001)},
		{"10 nearest of one document", 10, rag.Eq(rag.FieldURI, "library/7/document7.md")},
	}
}

// exactQuestions is how many answers are compared with exact ones.
const exactQuestions = 200

// recall is the share of the nearest, as the flat store finds them, that are in the answers.
func recall(ctx context.Context, flat *vectorstore.Flat, k kind, questions [][]float32, answers [][]rag.Match) (float64, error) {
	found, wanted := 0, 0
	for i, v := range questions[:min(exactQuestions, len(questions))] {
		want, err := flat.Search(ctx, collection, rag.VectorQuery{Vector: v, K: k.k, Filter: k.filter})
		if err != nil {
			return 0, err
		}
		for _, w := range want {
			if slices.ContainsFunc(answers[i], func(m rag.Match) bool { return m.ID == w.ID }) {
				found++
			}
		}
		wanted += len(want)
	}
	return float64(found) / float64(max(wanted, 1)), nil
}
