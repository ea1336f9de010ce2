package rag

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// unquoted takes the quotation marks out of words that are put into some.
var unquoted = strings.NewReplacer(`"`, " ", "“", " ", "”", " ", "„", " ")

// containsWords reports whether a text has the words, whatever white space is between them.
func containsWords(text, words string) bool { return strings.Contains(oneSpaced(text), words) }

// rankAll asks each lane for its whole ranking, and fuses what the search saw of them without a cut.
func (w *explaining) rankAll(ctx context.Context) error {
	s := newSearch(w.Engine, w.asked.q)
	s.q.Progress = nil
	s.deeper, s.text, s.also = w.asked.deeper, w.asked.text, w.asked.also
	w.whole = s
	if err := s.understand(ctx); err != nil {
		return err
	}
	r := w.config.Retrieval
	all := max(1, (s.stored.Chunks+s.q.TopK)/max(s.q.TopK, min(r.DenseTopK, r.SparseTopK))+1)
	if err := s.lanes(ctx, all); err != nil {
		return err
	}
	most := 1
	for stage, lists := range s.lists {
		w.lanes[stage] = s.ranks[stage]
		for i, l := range lists { // what fusion really saw is the list up to its cut
			lists[i].matches = l.matches[:min(len(l.matches), w.cut(stage))]
			most += len(lists[i].matches)
		}
		s.take(stage, lists)
	}
	s.fuse(most) // nothing is cut: no list is longer
	for i, m := range s.fused {
		w.fused[m.ID] = i + 1
	}
	return nil
}

// cut is where the search cut a lane.
func (w *explaining) cut(stage string) int {
	r := w.config.Retrieval
	if stage == StageDense {
		return w.asked.laneK(r.DenseTopK, w.asked.deeper)
	}
	return w.asked.laneK(r.SparseTopK, w.asked.deeper)
}

// excluded tells of a chunk that the filter or the date leaves out, and returns the beginning of the verdict; "" if neither
// does.
func (w *explaining) excluded() string {
	reason, verdict := "", ""
	if left := w.failing(); len(left) > 0 {
		conditions := make([]string, len(left))
		for i, f := range left {
			conditions[i] = f.String()
		}
		reason, verdict = "the filter excludes it: "+strings.Join(conditions, " and "), "excluded by the filter "+strings.Join(conditions, " and ")
	} else if w.outOfForce() {
		at := w.asked.q.AsOf.Format(time.RFC3339) // a day begins at another instant elsewhere
		reason, verdict = "it is not in force at "+at, "not in force at "+at
	}
	if verdict != "" {
		w.x.Stages = append(w.x.Stages, StageFate{Stage: StageQuery, Reason: reason})
	}
	return verdict
}

// failing are the parts of the query's filter that the chunk does not match.
func (w *explaining) failing() []Filter {
	var failing []Filter
	for _, f := range parts(w.asked.q.Filter) {
		if !f.Match(w.chunk.Fields(), w.chunk.Validity) {
			failing = append(failing, f)
		}
	}
	return failing
}

// parts are the conditions that all must hold.
func parts(f Filter) []Filter {
	if f.Op != OpAnd {
		return []Filter{f}
	}
	var all []Filter
	for _, a := range f.Args {
		all = append(all, parts(a)...)
	}
	return all
}

// outOfForce reports whether the date of the query leaves the chunk out.
func (w *explaining) outOfForce() bool {
	q := &w.asked.q
	return !q.AsOf.IsZero() && !q.Expired && !ValidAt(q.AsOf).Match(w.chunk.Fields(), w.chunk.Validity)
}

// tellLanes tells the chunk's rank in each whole lane.
func (w *explaining) tellLanes() {
	for _, stage := range []string{StageDense, StageSparse} {
		fate := StageFate{Stage: stage}
		rank, seen := w.lanes[stage][w.chunk.ID]
		switch {
		case w.lanes[stage] == nil:
			fate.Reason = "not used"
			if reason, ok := w.whole.spans[stage].Detail["reason"].(string); ok {
				fate.Reason = reason
			}
		case !seen && stage == StageSparse:
			fate.Reason = "no word in common with the query"
		case !seen:
			fate.Reason = "the index has no record of it: run `rag verify`"
		default:
			cut := w.cut(stage)
			if fate.Rank, fate.Score, fate.Kept = &rank.Position, &rank.Score, rank.Position <= cut; !fate.Kept {
				fate.Reason = fmt.Sprintf("below the lane's cut at %d", cut)
			}
		}
		w.x.Stages = append(w.x.Stages, fate)
	}
}

// tellFusion tells the chunk's rank in the whole fused list, and whether it was among the candidates of the search.
func (w *explaining) tellFusion() {
	fate := StageFate{Stage: StageFusion, Kept: findHit(w.asked.pool, w.chunk.ID) >= 0, Reason: "in neither lane's candidates"}
	if rank, ok := w.fused[w.chunk.ID]; ok {
		fate.Rank, fate.Score, fate.Reason = &rank, &w.whole.fused[rank-1].Score, ""
		if !fate.Kept {
			fate.Reason = fmt.Sprintf("below the cut at %d", w.asked.laneK(w.config.Retrieval.FusionTopK, w.asked.deeper))
		}
	}
	w.x.Stages = append(w.x.Stages, fate)
}

// tellRest follows the chunk through reranking, shaping and the cut, and returns the beginning of the verdict.
func (w *explaining) tellRest() string {
	x, asked := w.x, w.asked
	dense, sparse, fusion := x.Stages[0], x.Stages[1], x.Stages[2]
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
			if fusion.Rank != nil && r.Position > *fusion.Rank {
				rerank.Reason = fmt.Sprintf("reranked down from %d", *fusion.Rank)
			}
		}
	}
	shape := StageFate{Stage: StageShape, Reason: "off", Kept: at >= 0}
	if asked.shaping.ranks() {
		why := asked.fell[x.ChunkID]
		if shape.Rank, shape.Kept, shape.Reason = x.Rank, shape.Kept && why == "", ""; why != "" {
			shape.Reason = "dropped: " + why
		}
	}
	top := StageFate{Stage: "top_k", Rank: x.Rank, Kept: x.Returned}
	if !x.Returned {
		top.Rank, top.Reason = cmp.Or(rerank.Rank, fusion.Rank), fmt.Sprintf("not among the %d returned", asked.q.TopK)
	}
	x.Stages = append(x.Stages, rerank, shape, top)
	switch {
	case !fusion.Kept && !dense.Kept && !sparse.Kept:
		return "no lane had it among its candidates" + bestLane(dense, sparse)
	case fusion.Rank == nil:
		return "lost in fusion: the texts that found it weigh nothing beside the others, or it was written just now"
	case !fusion.Kept:
		return fmt.Sprintf("lost in fusion at rank %d", *fusion.Rank)
	case strings.HasPrefix(shape.Reason, "dropped"):
		return "left out in shaping, " + shape.Reason
	case rerank.Rank != nil && *rerank.Rank > asked.q.TopK && *fusion.Rank <= asked.q.TopK:
		return fmt.Sprintf("reranked down from %d to %d", *fusion.Rank, *rerank.Rank)
	}
	return fmt.Sprintf("rank %d of the candidates", at+1)
}

// bestLane tells where the lane had the chunk that came closest to keeping it.
func bestLane(lanes ...StageFate) string {
	var best *StageFate
	for i := range lanes {
		if l := &lanes[i]; l.Rank != nil && (best == nil || *l.Rank < *best.Rank) {
			best = l
		}
	}
	if best == nil {
		return ", since it shares no word with the query and has no vector to compare"
	}
	return fmt.Sprintf(" (%s rank %d)", best.Stage, *best.Rank)
}
