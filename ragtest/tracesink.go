package ragtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// OpenTraceSink makes a fresh sink and a function that gives back what it kept, oldest first; read is nil for a sink
// that sends its traces away.
type OpenTraceSink func(t *testing.T) (sink rag.TraceSink, read func() iter.Seq2[rag.Trace, error])

// TestTraceSink checks that a sink keeps the promises of [rag.TraceSink].
func TestTraceSink(t *testing.T, open OpenTraceSink) {
	t.Run("a recorded trace can be read back as it was", func(t *testing.T) {
		sink, read := open(t)
		want := []rag.Trace{queryTrace("a"), {ID: "b", Type: rag.TraceIngest, Timestamp: traceTime(), Stages: []rag.Span{}, Counts: &rag.Counts{Added: 2}}}
		for i := range want {
			record(t, sink, &want[i])
		}
		if read == nil {
			t.Skip("skipped: the sink cannot be read back")
		}
		if diff := cmp.Diff(want, readAll(t, read)); diff != "" {
			t.Errorf("traces read back (-want +got):\n%s", diff)
		}
	})
	t.Run("Record does not hold on to the trace", func(t *testing.T) {
		sink, read := open(t)
		tr := queryTrace("a")
		record(t, sink, &tr)
		tr.UserQuery = "changed"
		tr.Stages[0].Stage = "changed"
		tr.Stages[0].Detail["k"] = "changed"
		if read == nil {
			t.Skip("skipped: the sink cannot be read back")
		}
		if diff := cmp.Diff([]rag.Trace{queryTrace("a")}, readAll(t, read)); diff != "" {
			t.Errorf("a change after Record came through (-want +got):\n%s", diff)
		}
	})
	t.Run("traces recorded by many goroutines are all kept", func(t *testing.T) {
		sink, read := open(t)
		const writers, each = 8, 10
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					tr := queryTrace(fmt.Sprintf("%d-%d", w, i))
					record(t, sink, &tr)
				}
			})
		}
		wg.Wait()
		if read == nil {
			t.Skip("skipped: the sink cannot be read back")
		}
		ids := map[string]bool{}
		for _, tr := range readAll(t, read) {
			ids[tr.ID] = true
		}
		if len(ids) != writers*each {
			t.Errorf("%d traces can be read back, want %d", len(ids), writers*each)
		}
	})
	t.Run("a trace that JSON cannot hold is ErrInvalid", func(t *testing.T) {
		sink, _ := open(t)
		tr := queryTrace("a")
		tr.Stages[0].Detail["f"] = func() {}
		if err := sink.Record(t.Context(), &tr); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("Record gave error %v, want ErrInvalid", err)
		}
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		sink, _ := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tr := queryTrace("a")
		if err := sink.Record(ctx, &tr); !errors.Is(err, context.Canceled) {
			t.Errorf("Record gave error %v, want context.Canceled", err)
		}
	})
}

func record(t *testing.T, sink rag.TraceSink, tr *rag.Trace) {
	t.Helper()
	if err := sink.Record(t.Context(), tr); err != nil {
		t.Errorf("Record(%s): %v", tr.ID, err)
	}
}

func readAll(t *testing.T, read func() iter.Seq2[rag.Trace, error]) []rag.Trace {
	t.Helper()
	var all []rag.Trace
	for tr, err := range read() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

func traceTime() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC) }

// queryTrace has a value in every field of a search's trace.
func queryTrace(id string) rag.Trace {
	one, two := 1, 2
	return rag.Trace{
		ID: id, Type: rag.TraceQuery, Timestamp: traceTime(), Collection: "default", UserQuery: "a \"question\"\nof two lines", Mode: "hybrid",
		Stages: slices.Clone([]rag.Span{
			{Stage: rag.StageQuery, ElapsedMS: 0.25, In: 1, Out: 1, Detail: map[string]any{"k": "v"}},
			{Stage: rag.StageFusion, Method: "rrf", StartMS: 1.5, EndMS: 2.25, In: 40, Out: 2, Moves: &rag.Moves{MovedUp: 1, Dropped: 38}, Candidates: []rag.Candidate{
				{ChunkID: "c", Rank: 1, Score: 0.5, RankBefore: &two, RankAfter: &one, RankDelta: &one, DenseRank: &two},
				{ChunkID: "d", Rank: 2, Score: 0.25},
			}},
			{Stage: rag.StageRerank, Status: rag.SpanOff},
		}),
		TotalMS: 12.5, TopK: []rag.TopHit{{Rank: 1, ChunkID: "c", URI: "file:a", Score: 0.5, Snippet: "text", Trail: []rag.Rank{{Stage: rag.StageFusion, Position: 1, Score: 0.5}}}},
		Answer: &rag.AnswerTrace{Mode: rag.AnswerExtractive, Reliability: rag.Reliable, Confidence: 0.75, Citations: []rag.CitationTrace{{Marker: 1, ChunkID: "c"}}},
		Notes:  []rag.Note{{Stage: rag.StageRerank, Reason: "off"}},
	}
}
