package mcpadapter

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// explained is the data of explain_passage.
type explained struct {
	Query      string           `json:"query"`
	Collection string           `json:"collection"`
	ChunkID    string           `json:"chunk_id"`
	Source     string           `json:"source"`
	Returned   bool             `json:"returned"`       // it is among the top_k
	Rank       int              `json:"rank,omitempty"` // from 1; missing where it is not returned
	Stages     []explainedStage `json:"stages"`
	Verdict    string           `json:"verdict"`
}

type explainedStage struct {
	Stage  string   `json:"stage"`
	Rank   int      `json:"rank,omitempty"` // from 1; missing where the stage does not see it
	Score  *float64 `json:"score,omitempty"`
	Kept   bool     `json:"kept"` // it went on to the next stage
	Reason string   `json:"reason,omitempty"`
}

func (a *Adapter) explainPassage() *tool {
	return &tool{
		name: "explain_passage", title: "Explain a passage", out: explained{}, run: runExplainPassage,
		about: "Tell where in a search one passage rose, fell or was lost, and what would have kept it.",
		params: []param{
			question("question or keywords"), {name: "chunk_id", kind: textKind, required: true, about: "ID of the passage, as searches give it"},
			topK(), a.collectionParam(), a.filterParam(),
		},
	}
}

func runExplainPassage(ctx context.Context, c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	x, err := c.engine.Explain(ctx, q, c.args.text("chunk_id"))
	if err != nil {
		return nil, err
	}
	data := explained{
		Query: x.Query, Collection: x.Collection, ChunkID: x.ChunkID, Source: fileName(x.URI), Returned: x.Returned, Rank: rankOrZero(x.Rank),
		Stages: []explainedStage{}, Verdict: x.Verdict,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n\n| Stage | Rank | Score | Kept | Why |\n| --- | --- | --- | --- | --- |\n", data.Source, data.Verdict)
	for i := range x.Stages {
		s := stageOf(&x.Stages[i])
		data.Stages = append(data.Stages, s)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Stage, shownRank(s.Rank), shownScore(s.Score), yes(s.Kept), strings.ReplaceAll(s.Reason, "|", `\|`))
	}
	return &reply{text: b.String(), data: data}, nil
}

func stageOf(f *rag.StageFate) explainedStage {
	s := explainedStage{Stage: f.Stage, Rank: rankOrZero(f.Rank), Kept: f.Kept, Reason: f.Reason}
	if f.Score != nil {
		s.Score = new(rounded(*f.Score))
	}
	return s
}

// rankOrZero is a rank, 0 for none.
func rankOrZero(rank *int) int {
	if rank == nil {
		return 0
	}
	return *rank
}

func shownRank(rank int) string {
	if rank == 0 {
		return "–"
	}
	return fmt.Sprint(rank)
}

func shownScore(score *float64) string {
	if score == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *score)
}
