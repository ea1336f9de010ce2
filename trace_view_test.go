package rag_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// randomWords makes texts of a small vocabulary, so that lists overlap.
func randomWords(rnd *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("w%d", rnd.IntN(40))
	}
	return strings.Join(list, " ")
}

// randomSearches asks engines of several kinds many random questions: with a reranker and without, with sub-queries,
// shaping, one lane, and candidates beyond what a trace lists.
func randomSearches(t *testing.T, check func(t *testing.T, eng *rag.Engine, q rag.Query, ring *trace.Ring)) {
	rnd := rand.New(rand.NewPCG(7, 11))
	docs := make([]string, 120)
	for i := range docs {
		docs[i] = randomWords(rnd, 15)
	}
	docs[3], docs[5] = docs[2], docs[4] // near-duplicates
	for name, opts := range map[string][]rag.Option{
		"plain":    nil,
		"reranked": {rag.WithReranker(byLength{})},
		"failing":  {rag.WithReranker(&scorer{score: func(context.Context, string, []string) ([]float64, error) { return nil, rag.ErrUnavailable }})},
	} {
		t.Run(name, func(t *testing.T) {
			ring := trace.NewRing(trace.RingConfig{Size: 1000})
			eng := memoryEngine(t, func(c *rag.Config) {
				c.Retrieval.FusionTopK, c.Retrieval.RerankTopN = 20, 8
				c.Transforms = []rag.ProviderConfig{}
			}, docs, append(opts, rag.WithTraceSink(ring))...)
			for range 40 {
				q := rag.Query{Text: randomWords(rnd, 3), TopK: 1 + rnd.IntN(60), Explain: true}
				q.Mode = []rag.Mode{"", "", rag.Dense, rag.Sparse}[rnd.IntN(4)]
				if rnd.IntN(2) == 0 {
					q.Also = []rag.SubQuery{{Text: randomWords(rnd, 2)}, {Text: randomWords(rnd, 2), Weight: 0.5}}
				}
				if rnd.IntN(2) == 0 {
					q.Collapse, q.Diversity = new(0.9), new(rnd.Float64())
				}
				check(t, eng, q, ring)
			}
		})
	}
}

// TestRankTableIsTheTrail: for each hit the rank table has the places of its trail and no others, also after the trace was
// kept and read back, and its moves are what the places say.
func TestRankTableIsTheTrail(t *testing.T) {
	moves := map[string]int{}
	randomSearches(t, func(t *testing.T, eng *rag.Engine, q rag.Query, ring *trace.Ring) {
		res := search(t, eng, q)
		kept, err := ring.Get(t.Context(), res.TraceID)
		if err != nil {
			t.Fatal(err)
		}
		table := trace.RankTable(res.Trace)
		if diff := cmp.Diff(table, trace.RankTable(&kept)); diff != "" {
			t.Errorf("the kept trace has another table (-fresh +kept):\n%s", diff)
		}
		for i, row := range table {
			moves[row.Move]++
			if i >= len(res.Hits) {
				if row.Rank != nil || row.Move != trace.MoveOut || row.Fate == trace.FateReturned {
					t.Errorf("%q: row %d is no hit: %+v", q.Text, i, row)
				}
				continue
			}
			h := &res.Hits[i]
			if row.ChunkID != h.Chunk.ID || *row.Rank != i+1 || *row.Score != h.Score || row.URI != h.Chunk.URI || row.Fate != trace.FateReturned {
				t.Fatalf("%q: row %d is %+v, the hit %s with %v", q.Text, i, row, h.Chunk.ID, h.Score)
			}
			before := 0
			for _, place := range []struct {
				stage string
				got   *trace.Place
			}{
				{rag.StageSparse, row.Sparse}, {rag.StageDense, row.Dense}, {rag.StageFusion, row.Fusion}, {rag.StageRerank, row.Rerank}, {rag.StageShape, row.Shape},
			} {
				want, seen := h.RankAt(place.stage)
				if seen != (place.got != nil) || seen && (place.got.Rank != want.Position || place.got.Score == nil || *place.got.Score != want.Score) {
					t.Errorf("%q: %s of row %d is %+v, the trail %v", q.Text, place.stage, i, place.got, h.Trail)
				}
				if seen && place.stage != rag.StageRerank && place.stage != rag.StageShape {
					before = want.Position
				}
			}
			if row.Delta != before-(i+1) {
				t.Errorf("%q: row %d moved by %d, trail %v", q.Text, i, row.Delta, h.Trail)
			}
		}
		if len(table) < len(res.Hits) {
			t.Errorf("%q: %d rows for %d hits", q.Text, len(table), len(res.Hits))
		}
	})
	for _, move := range []string{trace.MoveUp, trace.MoveDown, trace.MoveSame, trace.MoveOut} {
		if moves[move] == 0 {
			t.Errorf("moves %v: none is %s", moves, move)
		}
	}
}

// checkWaterfall: spans lie inside the trace, and their union and the gap are its length.
func checkWaterfall(t *testing.T, tr *rag.Trace) {
	t.Helper()
	w := trace.NewWaterfall(tr)
	const rounding = 1e-6 // of sums of floating point, in ms
	for _, s := range tr.Stages {
		if s.StartMS < 0 || s.EndMS < s.StartMS || s.EndMS > tr.TotalMS {
			t.Errorf("span %s from %v to %v is outside a trace of %v ms", s.Stage, s.StartMS, s.EndMS, tr.TotalMS)
		}
	}
	// The union by another way than the one under test: over the pieces between all ends of bars.
	cuts := map[float64]bool{0: true, tr.TotalMS: true}
	for _, s := range tr.Stages {
		cuts[s.StartMS], cuts[s.EndMS] = true, true
	}
	union := 0.0
	for from := range cuts {
		to := math.Inf(1)
		for c := range cuts {
			if c > from {
				to = min(to, c)
			}
		}
		for _, s := range tr.Stages {
			if s.StartMS <= from && s.EndMS >= to {
				union += to - from
				break
			}
		}
	}
	if math.Abs(w.BusyMS-union) > rounding || math.Abs(w.BusyMS+w.GapMS-tr.TotalMS) > rounding {
		t.Errorf("busy %v and gap %v of %v ms, the union is %v", w.BusyMS, w.GapMS, tr.TotalMS, union)
	}
	for _, r := range w.Rows {
		if r.StartMS < 0 || r.EndMS < r.StartMS || r.EndMS > w.TotalMS {
			t.Errorf("row %+v is outside %v ms", r, w.TotalMS)
		}
	}
}

// TestWaterfallSumsToTheTrace for searches, ingests and answers.
func TestWaterfallSumsToTheTrace(t *testing.T) {
	randomSearches(t, func(t *testing.T, eng *rag.Engine, q rag.Query, _ *trace.Ring) {
		checkWaterfall(t, search(t, eng, q).Trace)
	})
	ring := trace.NewRing(trace.RingConfig{})
	f := newFixture(t, rag.WithTraceSink(ring), rag.WithChatModel(&ragtest.Script{Replies: []string{"Three months [1]."}}))
	for i := range 30 {
		f.write(fmt.Sprintf("%02d.md", i), fmt.Sprintf("# Notice\n\nThe notice period of contract %d is three months.\n", i))
	}
	f.ingest(nil)
	for _, q := range []string{"How long is the notice period of contract 7?", "xyzzy"} {
		if _, err := f.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: q}}); err != nil {
			t.Fatal(err)
		}
	}
	types := map[string]int{}
	for tr, err := range ring.All() {
		if err != nil {
			t.Fatal(err)
		}
		types[tr.Type]++
		if checkWaterfall(t, &tr); tr.Type == rag.TraceAsk && tr.Stages[0].EndMS == 0 {
			t.Errorf("the search of an answer has no place in time: %+v", tr.Stages[0])
		}
	}
	if types[rag.TraceIngest] != 1 || types[rag.TraceAsk] != 2 {
		t.Errorf("types %v", types)
	}
}
