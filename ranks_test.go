package rag

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func matches(ids ...string) []Match {
	list := make([]Match, len(ids))
	for i, id := range ids {
		list[i] = Match{id, float64(len(ids) - i)}
	}
	return list
}

// The reference example of the rank table: 4 and 4 become 2, so the chunk moved up by 2.
func TestRankFusionComparesWithTheBestRankOfBothLanes(t *testing.T) {
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}, fused: matches("a", "d", "x", "c"), lists: map[string][]found{}, ranks: map[string]map[string]placed{}}
	s.take(StageDense, []found{{0, matches("a", "b", "c", "d", "e")}})
	s.take(StageSparse, []found{{0, matches("x", "a", "y", "d")}})
	span := &Span{Stage: StageFusion}
	s.rankFusion(span)
	got, err := json.Marshal(span.Candidates)
	if err != nil {
		t.Fatal(err)
	}
	want := `[` +
		`{"chunk_id":"a","rank":1,"score":4,"rank_before":1,"rank_after":1,"rank_delta":0,"dense_rank":1,"sparse_rank":2},` +
		`{"chunk_id":"d","rank":2,"score":3,"rank_before":4,"rank_after":2,"rank_delta":2,"dense_rank":4,"sparse_rank":4},` +
		`{"chunk_id":"x","rank":3,"score":2,"rank_before":1,"rank_after":3,"rank_delta":-2,"sparse_rank":1},` +
		`{"chunk_id":"c","rank":4,"score":1,"rank_before":3,"rank_after":4,"rank_delta":-1,"dense_rank":3}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Moves{MovedUp: 1, MovedDown: 2, Unchanged: 1, MaxGain: 2, MaxDrop: 2, Dropped: 3}, span.Moves); diff != "" {
		t.Error(diff)
	}
}

// Two texts find overlapping lists: a chunk has its best place over both, and of equal places that of the first text.
func TestRanksOverSeveralTexts(t *testing.T) {
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}, lookups: make([]lookup, 2), lists: map[string][]found{}, ranks: map[string]map[string]placed{}}
	s.take(StageDense, []found{
		{0, []Match{{"a", 0.9}, {"b", 0.8}, {"d", 0.7}, {"e", 0.1}}},
		{1, []Match{{"b", 0.6}, {"a", 0.5}, {"d", 0.4}, {"c", 0.3}}},
	})
	s.take(StageSparse, []found{{0, []Match{{"c", 5}}}, {1, []Match{{"c", 4}, {"b", 3}}}})
	want := map[string]placed{
		"a": {Rank{StageDense, 1, 0.9}, []int{0, 1}}, "b": {Rank{StageDense, 1, 0.6}, []int{0, 1}},
		"c": {Rank{StageDense, 4, 0.3}, []int{1}}, "d": {Rank{StageDense, 3, 0.7}, []int{0, 1}}, "e": {Rank{StageDense, 4, 0.1}, []int{0}},
	}
	if diff := cmp.Diff(want, s.ranks[StageDense], cmp.AllowUnexported(placed{})); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}

	dense := &Span{Stage: StageDense}
	s.rankLane(dense)
	listed := []Candidate{
		{ChunkID: "a", Rank: 1, Score: 0.9, FoundBy: []int{0, 1}}, {ChunkID: "b", Rank: 1, Score: 0.6, FoundBy: []int{0, 1}},
		{ChunkID: "d", Rank: 3, Score: 0.7, FoundBy: []int{0, 1}}, {ChunkID: "e", Rank: 4, Score: 0.1, FoundBy: []int{0}},
		{ChunkID: "c", Rank: 4, Score: 0.3, FoundBy: []int{1}},
	}
	if diff := cmp.Diff(listed, dense.Candidates); diff != "" || dense.Out != 5 {
		t.Errorf("%d candidates of the lane (-want +got):\n%s", dense.Out, diff)
	}

	s.fused = []Match{{"c", 2}, {"b", 1}}
	fusion := &Span{Stage: StageFusion}
	s.rankFusion(fusion)
	if diff := cmp.Diff([][]int{{0, 1}, {0, 1}}, [][]int{fusion.Candidates[0].FoundBy, fusion.Candidates[1].FoundBy}); diff != "" {
		t.Errorf("found by (-want +got):\n%s", diff)
	}
	if before := *fusion.Candidates[0].RankBefore; before != 1 {
		t.Errorf("c was at %d before, want its place in the other lane, 1", before)
	}
	if fusion.Moves.Dropped != 3 {
		t.Errorf("%d dropped, want a, d and e", fusion.Moves.Dropped)
	}
}

func TestASingleTextIsNotNamed(t *testing.T) {
	s := &search{Engine: &Engine{}, lookups: make([]lookup, 1)}
	if got := s.foundBy([]int{0}); got != nil {
		t.Errorf("got %v", got)
	}
}

// A trace lists fifty candidates of a stage, and counts all.
func TestALongListIsCutAndCounted(t *testing.T) {
	ids := make([]string, maxCandidates+10)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}, lists: map[string][]found{}, ranks: map[string]map[string]placed{}, lookups: make([]lookup, 2)}
	s.take(StageDense, []found{{0, matches(ids...)}, {1, matches("x", "y")}})
	lane := &Span{Stage: StageDense}
	s.rankLane(lane)
	if len(lane.Candidates) != maxCandidates || lane.Out != len(ids)+2 || lane.Candidates[3].ChunkID != "y" {
		t.Errorf("%d of %d candidates, the fourth %v", len(lane.Candidates), lane.Out, lane.Candidates[3])
	}
	s.fused = matches(ids...)
	fusion := &Span{Stage: StageFusion}
	s.rankFusion(fusion)
	if len(fusion.Candidates) != maxCandidates || fusion.Moves.Unchanged != len(ids) || fusion.Moves.Dropped != 2 {
		t.Errorf("%d candidates, moves %+v", len(fusion.Candidates), fusion.Moves)
	}
}

func TestRanksOfAShortenedList(t *testing.T) {
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}}
	span := &Span{Stage: StageShape}
	s.rankHits(span, []Hit{{Chunk: Chunk{ID: "c"}}, {Chunk: Chunk{ID: "a"}}}, map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
	if diff := cmp.Diff(&Moves{MovedUp: 1, MovedDown: 1, MaxGain: 2, MaxDrop: 1, Dropped: 3}, span.Moves); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPassagesOfATrace(t *testing.T) {
	s := &search{Engine: &Engine{}}
	s.pool = []Hit{{Chunk: Chunk{ID: "a", URI: "u:a", Text: "text of a"}}, {Chunk: Chunk{ID: "b", URI: "u:b", Text: "text of b"}}}
	s.result = &Result{Hits: s.pool[1:]}
	tr := &Trace{Stages: []Span{{Candidates: []Candidate{{ChunkID: "a"}, {ChunkID: "b"}, {ChunkID: "unread"}}}}, TopK: []TopHit{{ChunkID: "b"}}}
	s.showPassages(tr)
	want := []Candidate{{ChunkID: "a", URI: "u:a", Snippet: "text of a"}, {ChunkID: "b", URI: "u:b", Snippet: "text of b"}, {ChunkID: "unread"}}
	if diff := cmp.Diff(want, tr.Stages[0].Candidates); diff != "" || tr.TopK[0].Snippet != "text of b" {
		t.Errorf("the result has %q; candidates (-want +got):\n%s", tr.TopK[0].Snippet, diff)
	}
}

func TestAFailedSpanSaysWhy(t *testing.T) {
	span := &Span{}
	span.fail(ErrUnavailable)
	if span.Error != ErrUnavailable.Error() || span.ErrorKind != ErrorKind(ErrUnavailable) || span.ErrorKind == "" {
		t.Errorf("got %q of kind %q", span.Error, span.ErrorKind)
	}
}

// A stage that is at work more than once lasts from its first beginning to its last end.
func TestASpanOfSeveralParts(t *testing.T) {
	span := &Span{}
	for _, part := range [][2]float64{{5, 9}, {6, 12}, {7, 8}} {
		span.ran(part[0], part[1])
	}
	if span.StartMS != 5 || span.EndMS != 12 {
		t.Errorf("got %v to %v, want 5 to 12", span.StartMS, span.EndMS)
	}
}

// failingSink keeps nothing, and says whether it was given time.
type failingSink struct{ live, dated bool }

func (f *failingSink) Record(ctx context.Context, _ *Trace) error {
	_, f.dated = ctx.Deadline()
	f.live = ctx.Err() == nil
	return ErrUnavailable
}

func TestATraceThatCannotBeKeptIsLogged(t *testing.T) {
	var log bytes.Buffer
	sink := &failingSink{}
	e := &Engine{sink: sink, log: slog.New(slog.NewTextHandler(&log, nil))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.record(ctx, &Trace{ID: "t1"})
	if !sink.live || !sink.dated {
		t.Errorf("a cancelled call's trace was recorded with a live context: %v, with a deadline: %v", sink.live, sink.dated)
	}
	if !strings.Contains(log.String(), "trace=t1") {
		t.Errorf("logged %q", log.String())
	}
	(&Engine{}).record(ctx, &Trace{}) // without a sink there is nothing to do
}

// The reference example of the rank table (docs/systems.md, A24): 20 and 20 candidates, 5 kept.
func TestMovesOfTheReferenceExample(t *testing.T) {
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}, fused: matches("a", "d", "e", "f", "b"), lists: map[string][]found{}, ranks: map[string]map[string]placed{}}
	s.take(StageDense, []found{{0, matches("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t")}})
	s.take(StageSparse, []found{{0, matches("c", "g", "h", "d", "i", "j", "k", "l", "m", "n", "o", "p", "a", "e", "f", "b", "q", "x", "y", "z")}})
	fusion := &Span{Stage: StageFusion}
	s.rankFusion(fusion)
	if diff := cmp.Diff(&Moves{MovedUp: 3, MovedDown: 1, Unchanged: 1, MaxGain: 2, MaxDrop: 3, Dropped: 18}, fusion.Moves); diff != "" {
		t.Errorf("fusion (-want +got):\n%s", diff)
	}

	before := map[string]int{}
	for i, m := range s.fused {
		before[m.ID] = i + 1
	}
	for _, id := range []string{"d", "a", "e", "f", "b"} {
		s.hits = append(s.hits, Hit{Chunk: Chunk{ID: id}})
	}
	rerank := &Span{Stage: StageRerank, Out: 5}
	s.rankRerank(rerank, before)
	if diff := cmp.Diff(&Moves{MovedUp: 1, MovedDown: 1, Unchanged: 3, MaxGain: 1, MaxDrop: 1}, rerank.Moves); diff != "" {
		t.Errorf("rerank (-want +got):\n%s", diff)
	}
}

func TestRankOfANewChunkIsNullNotAGain(t *testing.T) {
	tally := moveTally{most: maxCandidates}
	span := &Span{}
	tally.add(span, Candidate{ChunkID: "n", Rank: 1})
	tally.close(span, 0)
	got, err := json.Marshal(span.Candidates[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"chunk_id":"n","rank":1,"score":0,"rank_before":null,"rank_after":1,"rank_delta":null}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff(&Moves{New: 1}, span.Moves); diff != "" {
		t.Error(diff)
	}
}

func TestRerankComparesWithTheFusedList(t *testing.T) {
	s := &search{Engine: &Engine{tracing: tracing{detail: DetailStandard}}}
	for _, id := range []string{"c", "a", "b"} {
		s.hits = append(s.hits, Hit{Chunk: Chunk{ID: id}})
	}
	span := &Span{Stage: StageRerank, Out: 2} // two pairs, and one behind them
	s.rankRerank(span, map[string]int{"a": 1, "b": 3, "c": 2})
	if diff := cmp.Diff(&Moves{MovedUp: 1, MovedDown: 1, MaxGain: 1, MaxDrop: 1}, span.Moves); diff != "" {
		t.Error(diff)
	}
}

func TestStagesOfATraceAreAlwaysTheSix(t *testing.T) {
	e := &Engine{config: DefaultConfig(), methods: map[string]string{StageSparse: "bm25"}, now: time.Now, state: &state{}}
	s := newSearch(e, Query{Text: "x"})
	var got []string
	for _, span := range s.trace(nil).Stages {
		got = append(got, span.Stage+" "+span.Method+" "+span.Status)
	}
	if diff := cmp.Diff([]string{"query_processing  off", "dense  off", "sparse bm25 off", "fusion  off", "rerank  off", "shape  off"}, got); diff != "" {
		t.Error(diff)
	}
}
