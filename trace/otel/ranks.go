package otel

import (
	"cmp"
	"encoding/json"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed-d8745b77/rag"
)

// row is a passage with its rank in each list; 0: it was not in it, or not among those that the trace keeps.
type row struct {
	id, uri                             string
	final, rerank, fused, dense, sparse int
	score                               float64 // of the last stage that gave one
}

// table joins what the stages of a search say of each passage: the hits first, then those that fell, the nearest first.
func table(t *rag.Trace) []row {
	byID := map[string]*row{}
	at := func(id string) *row {
		if byID[id] == nil {
			byID[id] = &row{id: id}
		}
		return byID[id]
	}
	for _, stage := range t.Stages {
		for _, c := range stage.Candidates {
			r := at(c.ChunkID)
			switch stage.Stage {
			case rag.StageDense:
				r.dense, r.score = c.Rank, c.Score
			case rag.StageSparse:
				r.sparse, r.score = c.Rank, c.Score
			case rag.StageFusion:
				r.fused, r.score = c.Rank, c.Score
				r.dense, r.sparse = cmp.Or(r.dense, value(c.DenseRank)), cmp.Or(r.sparse, value(c.SparseRank))
			case rag.StageRerank:
				r.rerank, r.score = c.Rank, c.Score
				r.fused = cmp.Or(r.fused, value(c.RankBefore))
			}
		}
	}
	for _, h := range t.TopK {
		r := at(h.ChunkID)
		r.final, r.score, r.uri = h.Rank, h.Score, h.URI
		for _, place := range h.Trail { // also where a stage's list is longer than a trace keeps
			switch place.Stage {
			case rag.StageDense:
				r.dense = place.Position
			case rag.StageSparse:
				r.sparse = place.Position
			case rag.StageFusion:
				r.fused = place.Position
			case rag.StageRerank:
				r.rerank = place.Position
			}
		}
	}
	rows := make([]row, 0, len(byID))
	for _, r := range byID {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(nearer(a.final, b.final), nearer(a.rerank, b.rerank), nearer(a.fused, b.fused),
			nearer(best(a), best(b)), cmp.Compare(a.id, b.id))
	})
	return rows
}

// nearer orders ranks; one that is missing comes last.
func nearer(a, b int) int {
	if a == 0 || b == 0 {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// best is the better rank of the two lanes; 0: neither has one.
func best(r row) int {
	if r.dense == 0 || r.sparse == 0 {
		return max(r.dense, r.sparse)
	}
	return min(r.dense, r.sparse)
}

func value(rank *int) int {
	if rank == nil {
		return 0
	}
	return *rank
}

// ranks are the events of a search.
func (s *Sink) ranks(t *rag.Trace) (events []event) {
	rows := table(t)
	for _, r := range rows[:min(len(rows), max(0, s.config.Ranks))] {
		kv := []attribute.KeyValue{keyChunk.String(r.id), keyScore.Float64(r.score)}
		for _, place := range []struct {
			key  attribute.Key
			rank int
		}{{keyRankDense, r.dense}, {keyRankSparse, r.sparse}, {keyRankFused, r.fused}, {keyRankRerank, r.rerank}, {keyRankFinal, r.final}} {
			if place.rank > 0 {
				kv = append(kv, place.key.Int(place.rank))
			}
		}
		if s.config.Content && r.uri != "" {
			kv = append(kv, keyURI.String(r.uri))
		}
		events = append(events, event{eventRank, kv})
	}
	return events
}

// documents is gen_ai.retrieval.documents in the conventions' JSON form.
func documents(t *rag.Trace) string {
	type document struct {
		ID    string  `json:"id"`
		Score float64 `json:"score"`
	}
	all := make([]document, 0, len(t.TopK))
	for _, h := range t.TopK {
		all = append(all, document{h.ChunkID, h.Score})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "[]" // a score that is no number: such a search has failed
	}
	return string(text)
}
