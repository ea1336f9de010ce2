package trace_test

import (
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// TestAnyWaterfallSums: also of traces that no pipeline would write.
func TestAnyWaterfallSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		tr := rag.Trace{TotalMS: float64(rnd.IntN(20))}
		for range rnd.IntN(6) {
			from := rnd.Float64()*30 - 5
			tr.Stages = append(tr.Stages, rag.Span{Stage: "s", StartMS: from, EndMS: from + rnd.Float64()*10 - 1, Status: []string{"", rag.SpanOff, rag.SpanFailed}[rnd.IntN(3)]})
		}
		w := trace.NewWaterfall(&tr)
		if math.Abs(w.BusyMS+w.GapMS-tr.TotalMS) > 1e-9 || w.BusyMS < -1e-9 || w.GapMS < 0 {
			t.Fatalf("%+v of %+v", w, tr)
		}
		for _, r := range w.Rows {
			if r.StartMS < 0 || r.EndMS < r.StartMS || r.EndMS > w.TotalMS {
				t.Fatalf("row %+v is outside %v ms", r, w.TotalMS)
			}
		}
	}
}

func TestWaterfallRows(t *testing.T) {
	got := trace.NewWaterfall(&rag.Trace{TotalMS: 10, Stages: []rag.Span{
		{Stage: rag.StageQuery, StartMS: 0, EndMS: 1, ElapsedMS: 1},
		{Stage: rag.StageDense, Method: "hnsw", StartMS: 1, EndMS: 4, ElapsedMS: 2.5, In: 100, Out: 5},
		{Stage: rag.StageSparse, StartMS: 1.5, EndMS: 3, ElapsedMS: 1.5, Status: rag.SpanFailed},
		{Stage: rag.StageFusion, StartMS: 4.05, EndMS: 5, ElapsedMS: 0.95},
		{Stage: rag.StageRerank, Status: rag.SpanOff},
		{Stage: rag.StageShape, StartMS: 7, EndMS: 10, ElapsedMS: 3},
	}})
	want := trace.Waterfall{TotalMS: 10, BusyMS: 7.95, GapMS: 2.05, Rows: []trace.WaterfallRow{
		{Stage: rag.StageQuery, EndMS: 1, MS: 1},
		{Stage: rag.StageDense, Method: "hnsw", StartMS: 1, EndMS: 4, MS: 2.5, Parallel: true, In: 100, Out: 5},
		{Stage: rag.StageSparse, Failed: true, StartMS: 1.5, EndMS: 3, MS: 1.5, Parallel: true},
		{Stage: rag.StageFusion, StartMS: 4.05, EndMS: 5, MS: 0.95},
		{StartMS: 5, EndMS: 7, MS: 2},
		{Stage: rag.StageShape, StartMS: 7, EndMS: 10, MS: 3},
	}}
	for i := range got.Rows { // what floating point makes of 4.05 - 4
		got.Rows[i].MS = math.Round(got.Rows[i].MS*1000) / 1000
	}
	got.BusyMS, got.GapMS = math.Round(got.BusyMS*1000)/1000, math.Round(got.GapMS*1000)/1000
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRankTableOfAnAnswer(t *testing.T) {
	two, four := 2, 4
	place := func(stage string, rank int, score float64) rag.Rank {
		return rag.Rank{Stage: stage, Position: rank, Score: score}
	}
	tr := rag.Trace{
		Type: rag.TraceAsk,
		Stages: []rag.Span{
			{Stage: rag.StageDense, Candidates: []rag.Candidate{{ChunkID: "a", Rank: 1, Score: 0.9}, {ChunkID: "x", Rank: 7, Score: 0.1}}},
			{Stage: rag.StageFusion, Out: 5, Candidates: []rag.Candidate{
				{ChunkID: "a", Rank: 1, Score: 0.5}, {ChunkID: "b", Rank: 2, Score: 0.4}, {ChunkID: "c", Rank: 3, Score: 0.3, SparseRank: &four}, {ChunkID: "d", Rank: 4, Score: 0.2, DenseRank: &two}, {ChunkID: "e", Rank: 5, Score: 0.1},
			}},
			{Stage: rag.StageShape, Detail: map[string]any{"left_out": []any{map[string]any{"chunk_id": "d", "reason": "near-duplicate of a"}}}},
			{Stage: rag.StagePack, In: 2, Out: 1},
		},
		TopK: []rag.TopHit{
			{Rank: 1, ChunkID: "b", URI: "file:b", Score: 3, Trail: []rag.Rank{place(rag.StageFusion, 2, 0.4), place(rag.StageRerank, 1, 3)}},
			{Rank: 2, ChunkID: "a", URI: "file:a", Score: 2, Trail: []rag.Rank{place(rag.StageDense, 1, 0.9), place(rag.StageFusion, 1, 0.5)}},
		},
		Answer: &rag.AnswerTrace{Citations: []rag.CitationTrace{{Marker: 1, ChunkID: "b"}}},
	}
	var got []string
	for _, r := range trace.RankTable(&tr) {
		got = append(got, r.ChunkID+" "+r.Move+" "+r.Fate+" "+r.Reason)
	}
	want := []string{"b up cited ", "a down over_budget ", "c out not_returned ", "d out left_out near-duplicate of a", "e out not_returned ", "x out cut "}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := trace.RankTable(&rag.Trace{}); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
