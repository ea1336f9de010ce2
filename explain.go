package rag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Explanation says what became of one chunk in a search. Its JSON form is what `rag explain --json` prints.
type Explanation struct {
	Query      string      `json:"query"`
	Collection string      `json:"collection"`
	Mode       Mode        `json:"mode"`
	ChunkID    string      `json:"chunk_id"`
	URI        string      `json:"uri"`
	Returned   bool        `json:"returned"` // it is among the top_k hits
	Rank       *int        `json:"rank"`     // its final rank; null if it was not returned
	Stages     []StageFate `json:"stages"`
	Verdict    string      `json:"verdict"` // where it was lost and the nearest change that would have kept it
}

// StageFate is what one stage did with the chunk.
type StageFate struct {
	Stage  string   `json:"stage"`
	Rank   *int     `json:"rank"` // over all chunks that match the filter; null if the stage does not see it
	Score  *float64 `json:"score"`
	Kept   bool     `json:"kept"`   // it went on to the next stage
	Reason string   `json:"reason"` // why not, or why the stage was not used
}

// Explain runs the query and reports, stage by stage, what became of one chunk: its rank in each whole lane, also
// below the lane's cut, and the place where it was lost. ErrNotFound if the chunk is not live.
func (e *Engine) Explain(ctx context.Context, q Query, chunkID string) (*Explanation, error) {
	chunk, err := e.Chunk(ctx, q.Collection, chunkID)
	if err != nil {
		return nil, err
	}
	asked, err := e.search(ctx, q)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Query: q.Text, Collection: asked.q.Collection, Mode: asked.result.Mode, ChunkID: chunkID, URI: chunk.URI}
	if at := findHit(asked.hits, chunkID); at >= 0 {
		x.Rank, x.Returned = new(at+1), true
	}
	s := newSearch(e, q)
	s.deeper, s.text, s.also = asked.deeper, asked.text, asked.also
	defer e.readers.enter(s.q.Collection)()
	if err := s.understand(ctx); err != nil {
		return nil, err
	}
	if !s.filter.Match(chunk.Fields(), chunk.Validity) {
		x.Stages = append(x.Stages, StageFate{Stage: StageQuery, Reason: "the filter excludes it"})
		x.Verdict = "excluded by the filter: search without it, or correct the document's metadata"
		return x, nil
	}
	if err := e.explainLanes(ctx, s, x, chunkID); err != nil {
		return nil, err
	}
	fusion := s.explainFusion(x, asked, chunkID)
	explainRest(x, asked, fusion)
	return x, nil
}

// findHit returns the index of a chunk among hits, or -1.
func findHit(hits []Hit, id string) int {
	return slices.IndexFunc(hits, func(h Hit) bool { return h.Chunk.ID == id })
}

// explainLanes asks each lane for its whole ranking.
func (e *Engine) explainLanes(ctx context.Context, s *search, x *Explanation, chunkID string) error {
	r := e.config.Retrieval
	all := max(1, (s.stored.Chunks+s.q.TopK)/max(s.q.TopK, min(r.DenseTopK, r.SparseTopK))+1)
	if err := s.lanes(ctx, all); err != nil {
		return err
	}
	for _, lane := range []struct {
		stage string
		cut   int
	}{{StageDense, s.laneK(r.DenseTopK, s.deeper)}, {StageSparse, s.laneK(r.SparseTopK, s.deeper)}} {
		fate := StageFate{Stage: lane.stage}
		rank, seen := s.ranks[lane.stage][chunkID]
		lists, used := s.lists[lane.stage]
		switch {
		case !used:
			fate.Reason = "not used"
			if reason, ok := s.spans[lane.stage].Detail["reason"].(string); ok {
				fate.Reason = reason
			}
		case !seen && lane.stage == StageSparse:
			fate.Reason = "no word in common with the query"
		case !seen:
			fate.Reason = "the index has no record of it: run `rag verify`"
		default:
			fate.Rank, fate.Score, fate.Kept = &rank.Position, &rank.Score, rank.Position <= lane.cut
			if !fate.Kept {
				fate.Reason = fmt.Sprintf("below the lane's cut at %d", lane.cut)
			}
		}
		x.Stages = append(x.Stages, fate)
		if !used {
			continue
		}
		for i, l := range lists { // what fusion really saw is the list up to its cut
			lists[i].matches = l.matches[:min(len(l.matches), lane.cut)]
		}
		s.take(lane.stage, lists)
	}
	return nil
}

// explainFusion tells the chunk's rank in the whole fused list, and whether it was among the candidates of the search.
func (s *search) explainFusion(x *Explanation, asked *search, id string) StageFate {
	all := 1
	for _, lists := range s.lists {
		for _, l := range lists {
			all += len(l.matches)
		}
	}
	s.fuse(all) // nothing is cut: no list is longer
	fate := StageFate{Stage: StageFusion, Kept: findHit(asked.pool, id) >= 0, Reason: "in neither lane's candidates"}
	for i, m := range s.fused {
		if m.ID == id {
			fate.Rank, fate.Score, fate.Reason = new(i+1), &m.Score, ""
			if !fate.Kept {
				fate.Reason = fmt.Sprintf("below the cut at %d", s.laneK(s.config.Retrieval.FusionTopK, s.deeper))
			}
		}
	}
	x.Stages = append(x.Stages, fate)
	return fate
}

// explainRest follows the chunk through reranking and shaping and gives the verdict.
func explainRest(x *Explanation, asked *search, fusion StageFate) {
	rerank := StageFate{Stage: StageRerank, Reason: "off", Kept: fusion.Kept}
	if status := asked.result.Rerank; status.Reason != "" {
		rerank.Reason = status.Status + ": " + status.Reason
	} else if status.Status == RerankOK {
		rerank.Reason = "not among the pairs"
	}
	at := findHit(asked.pool, x.ChunkID)
	if at >= 0 {
		if r, ok := asked.pool[at].RankAt(StageRerank); ok {
			rerank.Rank, rerank.Score, rerank.Reason = &r.Position, &r.Score, ""
		}
	}
	shape := StageFate{Stage: StageShape, Reason: "off", Kept: at >= 0}
	if asked.shaping.ranks() {
		why := asked.fell[x.ChunkID]
		if shape.Rank, shape.Kept, shape.Reason = x.Rank, shape.Kept && why == "", ""; why != "" {
			shape.Reason = "dropped: " + why
		}
	}
	x.Stages = append(x.Stages, rerank, shape, StageFate{Stage: "top_k", Rank: x.Rank, Kept: x.Returned})
	if last := &x.Stages[len(x.Stages)-1]; !x.Returned {
		last.Rank, last.Reason = cmp.Or(rerank.Rank, fusion.Rank), fmt.Sprintf("not among the %d returned", asked.q.TopK)
	}
	switch {
	case x.Returned:
		x.Verdict = fmt.Sprintf("returned at rank %d", *x.Rank)
	case !fusion.Kept && !x.Stages[0].Kept && !x.Stages[1].Kept:
		x.Verdict = "no lane had it among its candidates: " + nearestCut(x.Stages[:2])
	case fusion.Rank == nil:
		x.Verdict = "lost in fusion: the texts that found it weigh nothing beside the others, or it was written just now"
	case !fusion.Kept:
		x.Verdict = fmt.Sprintf("lost in fusion at rank %d: retrieval.fusion_top_k of %d would have kept it", *fusion.Rank, *fusion.Rank)
		if r := asked.config.Retrieval; *fusion.Rank <= min(r.DenseTopK, r.SparseTopK) { // a larger top_k has the lanes give more, which changes ranks
			x.Verdict += ", and top_k of that would have returned it"
		}
	case strings.HasPrefix(shape.Reason, "dropped"):
		x.Verdict = "left out in shaping, " + shape.Reason
	case asked.result.Rerank.Status != RerankOK:
		x.Verdict = fmt.Sprintf("rank %d after fusion: top_k of %d would have returned it", *fusion.Rank, *fusion.Rank)
	default:
		x.Verdict = "lost in reranking: a larger top_k, or no reranking, would have returned it"
	}
}

// nearestCut says which lane came closest to keeping the chunk.
func nearestCut(lanes []StageFate) string {
	var best *StageFate
	for i := range lanes {
		if l := &lanes[i]; l.Rank != nil && (best == nil || *l.Rank < *best.Rank) {
			best = l
		}
	}
	if best == nil {
		return "it shares no word with the query and has no vector to compare; ask with words of the passage"
	}
	return fmt.Sprintf("retrieval.%s_top_k of %d would have let it in", best.Stage, *best.Rank)
}
