package rag

import (
	"encoding/json"
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
