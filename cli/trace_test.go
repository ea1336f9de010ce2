package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// someTraces are one of each kind that looks different.
func someTraces() []rag.Trace {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	rank := func(n int) *int { return &n }
	place := func(stage string, rank int, score float64) rag.Rank {
		return rag.Rank{Stage: stage, Position: rank, Score: score}
	}
	return []rag.Trace{
		{
			ID: "4f0a7c1be2d39855", Type: rag.TraceIngest, Timestamp: noon, Collection: "default", SourcePath: []string{"https://example.org/docs"}, TotalMS: 200,
			Stages: []rag.Span{
				{Stage: rag.StageLoad, Method: "archive,csv,docx,html", StartMS: 1, EndMS: 90, ElapsedMS: 150, In: 2, Out: 2},
				{Stage: rag.StageSplit, Method: "recursive", StartMS: 20, EndMS: 95, ElapsedMS: 3, In: 2, Out: 9},
				{Stage: rag.StageTransform, StartMS: 21, EndMS: 96, ElapsedMS: 1, In: 9, Out: 9},
				{Stage: rag.StageEmbed, Method: "local", StartMS: 97, EndMS: 160, ElapsedMS: 63, In: 9, Out: 9},
				{Stage: rag.StageUpsert, StartMS: 160, EndMS: 199.5, ElapsedMS: 39.5, In: 9, Out: 9},
			},
			Counts: &rag.Counts{Added: 2, Failed: 1, Chunks: 9, Images: 1},
			Files: []rag.FileTrace{
				{URI: "https://example.org/docs/broken.pdf", Bytes: 12, StartMS: 1, EndMS: 3, Stages: []rag.FileSpan{}, Error: "load https://example.org/docs/broken.pdf: no PDF: invalid"},
				{URI: "https://example.org/docs/leave.md", Action: "add", Bytes: 4096, Chunks: 7, StartMS: 1, EndMS: 199, Stages: []rag.FileSpan{
					{Stage: rag.StageLoad, StartMS: 1, EndMS: 80, MS: 79}, {Stage: rag.StageSplit, StartMS: 80, EndMS: 83, MS: 3}, {Stage: rag.StageTransform, StartMS: 83, EndMS: 84, MS: 1},
					{Stage: rag.StageEmbed, StartMS: 97, EndMS: 160, MS: 63, Shared: 2}, {Stage: rag.StageUpsert, StartMS: 160, EndMS: 199, MS: 39, Shared: 2},
				}},
			},
		},
		{
			ID: "aa11bb22cc33dd44", Type: rag.TraceQuery, Timestamp: noon.Add(time.Minute), Collection: "default", UserQuery: "how long is the\nnotice period?", Mode: "hybrid", TotalMS: 24,
			Stages: []rag.Span{
				{Stage: rag.StageQuery, StartMS: 0.1, EndMS: 0.5, ElapsedMS: 0.4, In: 1, Out: 1},
				{Stage: rag.StageDense, Method: "hnsw", StartMS: 0.5, EndMS: 8, ElapsedMS: 7.5, In: 9, Out: 2, Candidates: []rag.Candidate{{ChunkID: "c1", Rank: 1, Score: 0.8}, {ChunkID: "c2", Rank: 2, Score: 0.7}}},
				{Stage: rag.StageSparse, Method: "bm25", StartMS: 0.5, EndMS: 2, ElapsedMS: 1.5, In: 9, Out: 3, Candidates: []rag.Candidate{{ChunkID: "c2", Rank: 1, Score: 7}, {ChunkID: "c3", Rank: 2, Score: 5}, {ChunkID: "c4", Rank: 3, Score: 1}}},
				{Stage: rag.StageFusion, Method: "rrf", StartMS: 8, EndMS: 8.2, ElapsedMS: 0.2, In: 5, Out: 4, Candidates: []rag.Candidate{
					{ChunkID: "c2", Rank: 1, Score: 0.03, DenseRank: rank(2), SparseRank: rank(1)}, {ChunkID: "c1", Rank: 2, Score: 0.02, DenseRank: rank(1)}, {ChunkID: "c3", Rank: 3, Score: 0.015, SparseRank: rank(2)}, {ChunkID: "c4", Rank: 4, Score: 0.01, SparseRank: rank(3)},
				}},
				{Stage: rag.StageRerank, Method: "hugot", Status: rag.SpanFailed, Error: "no answer", StartMS: 10, EndMS: 22, ElapsedMS: 12, In: 4, Out: 4},
				{Stage: rag.StageShape, StartMS: 22, EndMS: 22.1, ElapsedMS: 0.1, In: 4, Out: 2, Detail: map[string]any{"left_out": []any{map[string]any{"chunk_id": "c3", "reason": "near-duplicate of c2"}}}},
			},
			TopK: []rag.TopHit{
				{Rank: 1, ChunkID: "c1", URI: "https://example.org/docs/leave.md", Score: 0.9, Trail: []rag.Rank{place(rag.StageDense, 1, 0.8), place(rag.StageFusion, 2, 0.02)}},
				{Rank: 2, ChunkID: "c2", URI: "https://example.org/docs/leave.md", Score: 0.8, Trail: []rag.Rank{place(rag.StageDense, 2, 0.7), place(rag.StageSparse, 1, 7), place(rag.StageFusion, 1, 0.03)}},
			},
			Notes: []rag.Note{{Stage: rag.StageRerank, Reason: "the fusion order stands: no answer"}},
		},
		{
			ID: "aa22bb22cc33dd44", Type: rag.TraceAsk, Timestamp: noon.Add(2 * time.Minute), Collection: "default", UserQuery: "who?", Mode: "sparse", TotalMS: 3,
			Stages: []rag.Span{{Stage: rag.StageQuery, StartMS: 0, EndMS: 1, ElapsedMS: 1}, {Stage: rag.StageEvidence, StartMS: 1, EndMS: 3, ElapsedMS: 2}},
			Answer: &rag.AnswerTrace{Mode: rag.AnswerExtractive, Reliability: rag.NoAnswer, Refused: true, Reason: "no passage was found"},
		},
		{ID: "bb33", Type: rag.TraceQuery, Timestamp: noon.Add(3 * time.Minute), Collection: "other", UserQuery: "\x1b[2Jwhat", Error: "search: no such collection: not found", TotalMS: 0.2, Stages: []rag.Span{}},
	}
}

func TestTrace(t *testing.T) {
	s := newShell(t)
	sink := trace.NewJSONL(filepath.Join(s.dir, ".rag"), trace.JSONLConfig{})
	for _, tr := range someTraces() {
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TZ", "UTC")
	for name, args := range map[string][]string{
		"trace_list.txt": {"list"}, "trace_failed.txt": {"list", "--failed", "--since", "2026-05-04"}, "trace_page.txt": {"list", "-n", "1", "--type", "query,ask", "--before", "bb33"},
		"trace_ingest.txt": {"show", "4f"}, "trace_query.txt": {"show", "aa11"}, "trace_answer.txt": {"show", "aa22bb22cc33dd44"}, "trace_error.txt": {"show", "bb33"},
	} {
		golden(t, name, s.rag(append([]string{"trace"}, args...)...).want(exitDone).stdout)
	}
	var shown struct {
		Trace     rag.Trace       `json:"trace"`
		Waterfall trace.Waterfall `json:"waterfall"`
		Ranks     []trace.RankRow `json:"ranks"`
	}
	s.rag("trace", "show", "aa11", "--json").want(exitDone).into(&shown)
	if shown.Trace.ID != someTraces()[1].ID || len(shown.Waterfall.Rows) != 8 || len(shown.Ranks) != 4 {
		t.Errorf("got %+v", shown)
	}
	var page trace.Page
	if s.rag("trace", "list", "--json", "--text", "NOTICE").want(exitDone).into(&page); len(page.Traces) != 1 {
		t.Errorf("got %+v", page)
	}
	s.rag("trace", "show", "aa").want(exitFailed).says("give more of it")
	s.rag("trace", "show", "zz").want(exitFailed).says(`no trace "zz"`)
	s.rag("trace", "list", "--type", "querry").want(exitUsage).says(`did you mean "query"?`)
	s.rag("trace", "list", "--since", "yesterday").want(exitUsage).says("7d")
	s.rag("trace", "list", "--slow", "1h").want(exitDone).says("no trace")
	s.rag("trace", "list", "--dir", "nowhere").want(exitDone).says("no trace")
}

// TestTraceTail ticks by hand.
func TestTraceTail(t *testing.T) {
	r := trace.NewRing(trace.RingConfig{})
	all := someTraces()
	record := func(i int) {
		if err := r.Record(t.Context(), &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	record(0)
	record(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	a := &app{streams: streams{out: &out, err: &out}, json: true}
	tick, done := make(chan time.Time), make(chan error)
	go func() { done <- a.tail(ctx, r, trace.Query{Limit: 1}, tick) }()
	tick <- time.Time{} // nothing new
	tick <- time.Time{}
	record(2)
	record(3)
	tick <- time.Time{}
	tick <- time.Time{} // the one before was seen to its end
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	var ids []string
	for line := range strings.Lines(out.String()) {
		ids = append(ids, line[:strings.Index(line, ",")])
	}
	want := []string{`{"trace_id":"aa11bb22cc33dd44"`, `{"trace_id":"aa22bb22cc33dd44"`, `{"trace_id":"bb33"`}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
