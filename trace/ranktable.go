package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// RankRow is a candidate of a search, with its place in each list. The places of a result are its [rag.Hit].Trail.
type RankRow struct {
	ChunkID string   `json:"chunk_id"`
	URI     string   `json:"uri,omitempty"`     // of a result; of others in a verbose trace
	Snippet string   `json:"snippet,omitempty"` // in a verbose trace
	Rank    *int     `json:"rank"`              // final, 1-based; null if it is not a result
	Score   *float64 `json:"score"`             // final
	Dense   *Place   `json:"dense"`             // null: not in that list, or below what the trace lists of it
	Sparse  *Place   `json:"sparse"`
	Fusion  *Place   `json:"fusion"`
	Rerank  *Place   `json:"rerank"`
	Shape   *Place   `json:"shape"`
	Move    string   `json:"move"`             // one of the Move constants: from the order of fusion, or of the only lane, to the result
	Delta   int      `json:"delta"`            // places that it moved up; negative: down
	Fate    string   `json:"fate"`             // one of the Fate constants; "" if the trace does not tell
	Reason  string   `json:"reason,omitempty"` // of FateLeftOut
}

// Place is where a list has a candidate.
type Place struct {
	Rank  int      `json:"rank"`  // 1-based
	Score *float64 `json:"score"` // null if only the rank is known
}

// How a candidate moved.
const (
	MoveUp   = "up"
	MoveDown = "down"
	MoveSame = "same"
	MoveNew  = "new" // it was in no list before
	MoveOut  = "out" // it is no result
)

// What became of a candidate.
const (
	FateCited       = "cited"        // by the answer
	FateInContext   = "in_context"   // the chat model was shown it
	FateOverBudget  = "over_budget"  // a result that the chat model's budget had no room for
	FateReturned    = "returned"     // a result
	FateLeftOut     = "left_out"     // in shaping
	FateNotReturned = "not_returned" // a candidate after fusion, and no result: below top_k, or not live, or not matching
	FateCut         = "cut"          // not among the candidates that fusion kept
)

// RankTable lists the candidates of a search: its results by rank, then the others by their place in fusion, then those that
// it did not keep by their best place in a lane. Nil for a trace that keeps no candidates and has no results.
func RankTable(t *rag.Trace) []RankRow {
	r := ranking{rows: map[string]*RankRow{}, spans: map[string]*rag.Span{}}
	for i := range t.Stages {
		s := &t.Stages[i]
		r.spans[s.Stage] = s
		if s.Status == "" || s.Stage == rag.StageFusion { // off, fusion hands on the list of the only lane
			r.candidates(s)
		}
	}
	for i := range t.TopK {
		r.result(&t.TopK[i])
	}
	r.fates(t)
	table := make([]RankRow, 0, len(r.rows))
	for _, row := range r.rows {
		row.move(r.before(row))
		table = append(table, *row)
	}
	slices.SortFunc(table, func(a, b RankRow) int {
		return cmp.Or(cmp.Compare(orLast(a.Rank), orLast(b.Rank)), cmp.Compare(r.fused[a.ChunkID], r.fused[b.ChunkID]),
			cmp.Compare(bestLane(&a), bestLane(&b)), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	if len(table) == 0 {
		return nil
	}
	return table
}

// ranking is a rank table in the making.
type ranking struct {
	rows  map[string]*RankRow
	spans map[string]*rag.Span
	fused map[string]int // place in the list that fusion handed on; last for the others
}

func (r *ranking) row(id string) *RankRow {
	if r.rows[id] == nil {
		r.rows[id] = &RankRow{ChunkID: id}
	}
	return r.rows[id]
}

// at returns where a row keeps its place in a stage; nil for a stage that ranks nothing.
func (row *RankRow) at(stage string) **Place {
	switch stage {
	case rag.StageDense:
		return &row.Dense
	case rag.StageSparse:
		return &row.Sparse
	case rag.StageFusion:
		return &row.Fusion
	case rag.StageRerank:
		return &row.Rerank
	case rag.StageShape:
		return &row.Shape
	}
	return nil
}

// candidates takes the list of a stage.
func (r *ranking) candidates(s *rag.Span) {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		row := r.row(c.ChunkID)
		row.URI, row.Snippet = cmp.Or(row.URI, c.URI), cmp.Or(row.Snippet, c.Snippet)
		if s.Status == "" {
			if at := row.at(s.Stage); at != nil {
				*at = &Place{c.Rank, &c.Score}
			}
		}
		for stage, rank := range map[string]*int{rag.StageDense: c.DenseRank, rag.StageSparse: c.SparseRank} { // of those that a lane's own list is too short for
			if at := row.at(stage); rank != nil && *at == nil {
				*at = &Place{Rank: *rank}
			}
		}
	}
}

// result takes a final result.
func (r *ranking) result(h *rag.TopHit) {
	row := r.row(h.ChunkID)
	row.URI, row.Snippet, row.Rank, row.Score = cmp.Or(h.URI, row.URI), cmp.Or(h.Snippet, row.Snippet), &h.Rank, &h.Score
	for i := range h.Trail {
		if at := row.at(h.Trail[i].Stage); at != nil {
			*at = &Place{h.Trail[i].Position, &h.Trail[i].Score}
		}
	}
}

// before is the place from which a row moved to its final rank; 0 if there is none.
func (r *ranking) before(row *RankRow) int {
	for _, p := range []*Place{row.Fusion, row.Dense, row.Sparse} {
		if p != nil {
			return p.Rank
		}
	}
	return 0
}

func (row *RankRow) move(before int) {
	switch {
	case row.Rank == nil:
		row.Move = MoveOut
	case before == 0:
		row.Move = MoveNew
	case before > *row.Rank:
		row.Move, row.Delta = MoveUp, before-*row.Rank
	case before < *row.Rank:
		row.Move, row.Delta = MoveDown, before-*row.Rank
	default:
		row.Move = MoveSame
	}
}

// fates tells what became of each row.
func (r *ranking) fates(t *rag.Trace) {
	reasons := leftOut(r.spans[rag.StageShape])
	cited := map[string]bool{}
	if t.Answer != nil {
		for _, c := range t.Answer.Citations {
			cited[c.ChunkID] = true
		}
	}
	r.fused = map[string]int{}
	listsAll := false
	if s := r.spans[rag.StageFusion]; s != nil {
		listsAll = s.Out == len(s.Candidates)
		for _, c := range s.Candidates {
			r.fused[c.ChunkID] = c.Rank
		}
	}
	pack := r.spans[rag.StagePack]
	for id, row := range r.rows {
		_, inFusion := r.fused[id]
		if !inFusion {
			r.fused[id] = math.MaxInt
		}
		row.Reason = reasons[id]
		switch {
		case cited[id]:
			row.Fate = FateCited
		case row.Rank != nil && pack != nil && pack.Status == "" && *row.Rank <= pack.Out:
			row.Fate = FateInContext
		case row.Rank != nil && pack != nil && pack.Status == "" && *row.Rank <= pack.In:
			row.Fate = FateOverBudget
		case row.Rank != nil:
			row.Fate = FateReturned
		case row.Reason != "":
			row.Fate = FateLeftOut
		case inFusion:
			row.Fate = FateNotReturned
		case listsAll:
			row.Fate = FateCut
		}
	}
}

// leftOut reads from the details of shaping why candidates fell.
func leftOut(s *rag.Span) map[string]string {
	reasons := map[string]string{}
	if s == nil {
		return reasons
	}
	list, _ := s.Detail["left_out"].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			id, _ := m["chunk_id"].(string)
			reasons[id], _ = m["reason"].(string)
		}
	}
	return reasons
}

func orLast(rank *int) int {
	if rank == nil {
		return math.MaxInt
	}
	return *rank
}

// bestLane is the better of a row's places in the lanes.
func bestLane(row *RankRow) int {
	best := math.MaxInt
	for _, p := range []*Place{row.Dense, row.Sparse} {
		if p != nil {
			best = min(best, p.Rank)
		}
	}
	return best
}
