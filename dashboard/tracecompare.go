package dashboard

import (
	"slices"

	"github.com/seed-d8745b77/rag"
)

// traceComparison puts two traces of queries side by side.
type traceComparison struct {
	A      *rag.Trace  `json:"a"`
	B      *rag.Trace  `json:"b"`
	Stages []stagePair `json:"stages"` // in pipeline order, those that ran in one of them
	Hits   []hitPair   `json:"hits"`   // of both, in the order of B, then those that only A has
	Both   int         `json:"both"`   // hits that both have
}

// stagePair is a stage in two traces; nil: it did not run.
type stagePair struct {
	Stage string    `json:"stage"`
	A     *rag.Span `json:"a"`
	B     *rag.Span `json:"b"`
}

// hitPair is a passage in the results of two traces; rank 0: it is not among them.
type hitPair struct {
	ChunkID string `json:"chunk_id"`
	URI     string `json:"uri"`
	A       int    `json:"rank_a"`
	B       int    `json:"rank_b"`
	Move    move   `json:"move"`
}

// move is how a passage's place changed from one list to the next.
type move struct {
	Kind string `json:"kind"` // up, down, same, new or out
	By   int    `json:"by"`   // places, of up and down
}

// Kinds of moves.
const (
	moveUp   = "up"
	moveDown = "down"
	moveSame = "same"
	moveNew  = "new"
	moveOut  = "out"
)

// moveFrom compares two 1-based places; 0: not in the list. A passage that was in no list before has gained nothing.
func moveFrom(before, after int) move {
	switch {
	case after == 0:
		return move{Kind: moveOut}
	case before == 0:
		return move{Kind: moveNew}
	case before > after:
		return move{moveUp, before - after}
	case before < after:
		return move{moveDown, after - before}
	}
	return move{Kind: moveSame}
}

// compareTraces compares b with a.
func compareTraces(a, b *rag.Trace) traceComparison {
	c := traceComparison{A: a, B: b}
	for _, pair := range pairStages(a, b) {
		if pair.A != nil || pair.B != nil {
			c.Stages = append(c.Stages, pair)
		}
	}
	before := map[string]int{}
	for _, h := range a.TopK {
		before[h.ChunkID] = h.Rank
	}
	for _, h := range b.TopK {
		was := before[h.ChunkID]
		if was > 0 {
			c.Both++
		}
		delete(before, h.ChunkID)
		c.Hits = append(c.Hits, hitPair{h.ChunkID, h.URI, was, h.Rank, moveFrom(was, h.Rank)})
	}
	for _, h := range a.TopK {
		if before[h.ChunkID] > 0 {
			c.Hits = append(c.Hits, hitPair{h.ChunkID, h.URI, h.Rank, 0, move{Kind: moveOut}})
		}
	}
	return c
}

// pairStages lists the stages of both traces in the order of the longer pipeline: that of an answer begins as that of a
// query.
func pairStages(a, b *rag.Trace) []stagePair {
	long := a
	if len(b.Stages) > len(a.Stages) {
		long = b
	}
	var out []stagePair
	for _, s := range long.Stages {
		out = append(out, stagePair{s.Stage, ranStage(a, s.Stage), ranStage(b, s.Stage)})
	}
	return out
}

// ranStage returns a stage of a trace, nil if it was off.
func ranStage(t *rag.Trace, stage string) *rag.Span {
	i := slices.IndexFunc(t.Stages, func(s rag.Span) bool { return s.Stage == stage })
	if i < 0 || t.Stages[i].Status == rag.SpanOff {
		return nil
	}
	return &t.Stages[i]
}
