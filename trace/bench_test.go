package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// largeTraces writes n traces of searches as long as they get: 50 candidates of each stage, 10 hits.
func largeTraces(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
	tr := sample(1)
	tr.Stages, tr.TopK = nil, nil
	for _, stage := range []string{rag.StageQuery, rag.StageDense, rag.StageSparse, rag.StageFusion, rag.StageRerank, rag.StageShape} {
		span := rag.Span{Stage: stage, Method: "method", ElapsedMS: 1.25, In: 100, Out: 50, Detail: map[string]any{"language": "en", "query": "notice period"}}
		for i := range 50 {
			rank := i + 1
			switch stage {
			case rag.StageFusion, rag.StageRerank:
				span.Candidates = append(span.Candidates, rag.Candidate{ChunkID: fmt.Sprintf("%024d", i), Rank: rank, Score: 0.0123456789, RankBefore: &rank, RankAfter: &rank, RankDelta: &rank, DenseRank: &rank})
			case rag.StageDense, rag.StageSparse:
				span.Candidates = append(span.Candidates, rag.Candidate{ChunkID: fmt.Sprintf("%024d", i), Rank: rank, Score: 0.0123456789})
			}
		}
		tr.Stages = append(tr.Stages, span)
	}
	for i := range 10 {
		trail := []rag.Rank{{Stage: rag.StageDense, Position: 1, Score: 0.123456}, {Stage: rag.StageSparse, Position: 2, Score: 12.3456}, {Stage: rag.StageFusion, Position: 1, Score: 0.0323}}
		tr.TopK = append(tr.TopK, rag.TopHit{Rank: i + 1, ChunkID: fmt.Sprintf("%024d", i), URI: "file:///home/somebody/documents/handbook/leave.md", Score: 0.0323, Trail: trail})
	}
	for i := range n {
		tr.ID, tr.Timestamp = sample(i).ID, noon.Add(time.Duration(i)*time.Second)
		if err := sink.Record(b.Context(), &tr); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkIndex tells the first page of 10,000 traces, later pages, one trace, statistics, and the memory of an index.
func BenchmarkIndex(b *testing.B) {
	dir := largeTraces(b, 10_000)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := trace.NewIndex(dir).List(b.Context(), trace.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	index := trace.NewIndex(dir)
	page, err := index.List(b.Context(), trace.Query{})
	if err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"page": func() error { _, err := index.List(b.Context(), trace.Query{Before: page.Next}); return err },
		"rare": func() error { _, err := index.List(b.Context(), trace.Query{Text: "nothing has this"}); return err },
		"get":  func() error { _, err := index.Get(b.Context(), page.Next); return err },
		"stats": func() error {
			_, err := index.Stats(b.Context(), trace.Query{Types: []string{rag.TraceQuery}}, 60)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAll tells what reading the same traces whole takes.
func BenchmarkAll(b *testing.B) {
	dir := largeTraces(b, 10_000)
	for b.Loop() {
		for _, err := range trace.NewIndex(dir).All() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
