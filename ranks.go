package rag

import (
	"context"
	"slices"
	"time"
)

// maxCandidates is how many candidates of a stage a trace lists at DetailStandard.
const maxCandidates = 50

// placed is the best place that a lane gave a chunk over all texts.
type placed struct {
	Rank
	by []int // lookups that found it, in order
}

// take keeps what a lane found, and each chunk's place in it. Of equal places the first text's stands.
func (s *search) take(stage string, lists []found) {
	ranks := map[string]placed{}
	for _, l := range lists {
		for i, m := range l.matches {
			p, seen := ranks[m.ID]
			if !seen || i+1 < p.Position {
				p.Rank = Rank{stage, i + 1, m.Score}
			}
			p.by = append(p.by, l.lookup)
			ranks[m.ID] = p
		}
	}
	s.lists[stage], s.ranks[stage] = lists, ranks
}

// foundBy is what a candidate says of the texts that found it: nothing where there is but the question.
func (s *search) foundBy(lookups []int) []int {
	if len(s.lookups) < 2 {
		return nil
	}
	return lookups
}

// rankLane lists a lane's candidates in its span, each once: by their best place, of equal ones in the order of the texts.
func (s *search) rankLane(span *Span) {
	lists, ranks := s.lists[span.Stage], s.ranks[span.Stage]
	span.Out = len(ranks)
	listed := map[string]bool{}
	most := s.tracing.most()
	for i := 0; len(listed) < min(len(ranks), most); i++ {
		for _, l := range lists {
			if i >= len(l.matches) || listed[l.matches[i].ID] || len(listed) == most {
				continue
			}
			id := l.matches[i].ID
			listed[id] = true
			span.Candidates = append(span.Candidates, Candidate{ChunkID: id, Rank: ranks[id].Position, Score: ranks[id].Score, FoundBy: s.foundBy(ranks[id].by)})
		}
	}
}

// rankFusion compares the fused list with the lanes: a chunk's rank before is its best rank over both.
func (s *search) rankFusion(span *Span) {
	seen := map[string]bool{}
	for _, lane := range s.ranks {
		for id := range lane {
			seen[id] = true
		}
	}
	t := moveTally{most: s.tracing.most()}
	for i, m := range s.fused {
		c := Candidate{ChunkID: m.ID, Rank: i + 1, Score: m.Score}
		var by []int
		if p, ok := s.ranks[StageDense][m.ID]; ok {
			c.DenseRank = &p.Position
			c.RankBefore = &p.Position
			by = append(by, p.by...)
		}
		if p, ok := s.ranks[StageSparse][m.ID]; ok {
			c.SparseRank = &p.Position
			if c.RankBefore == nil || p.Position < *c.RankBefore {
				c.RankBefore = &p.Position
			}
			by = append(by, p.by...)
		}
		slices.Sort(by)
		c.FoundBy = s.foundBy(slices.Compact(by))
		t.add(span, c)
	}
	t.close(span, len(seen)-len(s.fused))
}

// rankRerank compares the order of the pairs with their order in the fused list.
func (s *search) rankRerank(span *Span, before map[string]int) {
	s.rankHits(span, s.hits[:span.Out], before)
	span.Moves.Dropped = 0 // those behind the pairs stay behind
}

// rankHits compares a list of hits with the places they had before.
func (s *search) rankHits(span *Span, hits []Hit, before map[string]int) {
	t := moveTally{most: s.tracing.most()}
	for i, h := range hits {
		c := Candidate{ChunkID: h.Chunk.ID, Rank: i + 1, Score: h.Score}
		if rank, ok := before[h.Chunk.ID]; ok {
			c.RankBefore = &rank
		}
		t.add(span, c)
	}
	t.close(span, len(before)-len(hits))
}

// moveTally sums up rank changes.
type moveTally struct {
	m    Moves
	most int // candidates that are listed
}

// add completes a candidate's change of rank, counts it, and lists it while there is room.
func (t *moveTally) add(span *Span, c Candidate) {
	after := c.Rank
	c.RankAfter = &after
	if c.RankBefore == nil {
		t.m.New++
	} else {
		delta := *c.RankBefore - after
		c.RankDelta = &delta
		switch {
		case delta > 0:
			t.m.MovedUp++
			t.m.MaxGain = max(t.m.MaxGain, delta)
		case delta < 0:
			t.m.MovedDown++
			t.m.MaxDrop = max(t.m.MaxDrop, -delta)
		default:
			t.m.Unchanged++
		}
	}
	if len(span.Candidates) < t.most {
		span.Candidates = append(span.Candidates, c)
	}
}

func (t *moveTally) close(span *Span, dropped int) {
	t.m.Dropped = dropped
	span.Moves = &t.m
}

// trace of a search.
func (s *search) trace(err error) *Trace {
	t := &Trace{
		ID: s.id, Type: TraceQuery, Timestamp: s.started, Collection: s.q.Collection,
		UserQuery: s.q.Text, Mode: string(s.result.Mode), Notes: s.result.Notes,
		TotalMS: s.sinceStart(s.now()),
	}
	for _, stage := range queryStages {
		t.Stages = append(t.Stages, *s.spans[stage])
	}
	for i, h := range s.result.Hits {
		t.TopK = append(t.TopK, TopHit{Rank: i + 1, ChunkID: h.Chunk.ID, URI: h.Chunk.URI, Score: h.Score, Images: len(h.Chunk.Images), Trail: h.Trail})
	}
	if s.tracing.detail == DetailVerbose {
		s.showPassages(t)
	}
	t.fail(err)
	return t
}

// fail notes why the call failed, if it did.
func (t *Trace) fail(err error) {
	if err != nil {
		t.Error, t.ErrorKind = err.Error(), ErrorKind(err)
	}
}

// fail notes why the stage failed.
func (s *Span) fail(err error) { s.Error, s.ErrorKind = err.Error(), ErrorKind(err) }

// ran notes that the stage was at work between two offsets from the trace's start, in milliseconds.
func (s *Span) ran(from, to float64) {
	if s.EndMS == 0 {
		s.StartMS = from
	}
	s.EndMS = max(s.EndMS, to)
}

// showPassages gives the candidates that were read, and the results, their URIs and the beginnings of their texts.
func (s *search) showPassages(t *Trace) {
	uris, snippets := map[string]string{}, map[string]string{}
	for _, hits := range [][]Hit{s.pool, s.result.Hits} {
		for i := range hits {
			c := &hits[i].Chunk
			uris[c.ID], snippets[c.ID] = c.URI, s.tracing.snippet(c.Text)
		}
	}
	for i := range t.Stages {
		for j := range t.Stages[i].Candidates {
			c := &t.Stages[i].Candidates[j]
			c.URI, c.Snippet = uris[c.ChunkID], snippets[c.ChunkID]
		}
	}
	for i := range t.TopK {
		t.TopK[i].Snippet = snippets[t.TopK[i].ChunkID]
	}
}

// record hands a trace to the sink. A trace that cannot be kept is logged: it must not fail the call it is about.
func (e *Engine) record(ctx context.Context, t *Trace) {
	if e.sink == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // a cancelled call is traced too
	defer cancel()
	if err := e.sink.Record(ctx, e.tracing.tell(t)); err != nil {
		e.log.Warn("trace not kept", "trace", t.ID, "error", err)
	}
}
