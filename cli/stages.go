package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seed-d8745b77/rag"
)

// shownCandidates is how many candidates of a stage are printed; the trace in --json has up to 50.
const shownCandidates = 20

// Columns that a list of candidates needs beside the passage: for rank and score, and for what came before.
const (
	rankColumns   = 16
	beforeColumns = 26
)

// printStages writes what each stage of a search ranked: the dense, sparse, fusion, rerank and shape lists.
func (a *app) printStages(ctx context.Context, eng *rag.Engine, res *rag.Result) {
	p := a.paint(a.out)
	passage := passageLookup(ctx, eng, res.Collection)
	for i := range res.Trace.Stages {
		s := &res.Trace.Stages[i]
		if s.Stage == rag.StageQuery {
			continue
		}
		fmt.Fprintf(a.out, "%s %s\n", p.bold(s.Stage), p.dim(stageFacts(s)))
		if s.Status == "" && len(s.Candidates) > 0 { // a stage that is off hands its input on
			a.printCandidates(s, passage)
		}
		fmt.Fprintln(a.out)
	}
}

// printRewrites writes what the query transforms made of the question.
func (a *app) printRewrites(rewrites []rag.Rewrite) {
	p := a.paint(a.out)
	for _, r := range rewrites {
		facts := fmt.Sprintf("%s · %.1f ms", r.Method, r.ElapsedMS)
		if r.Reason != "" {
			facts += " · " + r.Reason
		}
		fmt.Fprintf(a.out, "%s %s\n", p.bold("rewrite"), p.dim(visible(facts)))
		if r.Text != r.Original {
			fmt.Fprintf(a.out, "  %s\n  → %s\n", visible(r.Original), visible(r.Text))
		}
		for _, q := range r.Also {
			kind := ""
			if q.Role == rag.AsPassage {
				kind = " " + p.dim("(like a passage)")
			}
			fmt.Fprintf(a.out, "  + %s%s\n", visible(q.Text), kind)
		}
		fmt.Fprintln(a.out)
	}
}

// stageFacts sums a stage up: provider, time, numbers, rank changes, or why it was not used.
func stageFacts(s *rag.Span) string {
	facts := s.Method
	if facts != "" {
		facts += " · "
	}
	switch s.Status {
	case rag.SpanOff:
		return facts + "off"
	case rag.SpanLeftOut, rag.SpanFailed:
		return visible(fmt.Sprintf("%s%v", facts, s.Detail["reason"]))
	}
	facts += fmt.Sprintf("%.1f ms · %d in, %d out", s.ElapsedMS, s.In, s.Out)
	if m := s.Moves; m != nil {
		facts += fmt.Sprintf(" · %d up, %d down, %d unchanged, %d new, %d dropped", m.MovedUp, m.MovedDown, m.Unchanged, m.New, m.Dropped)
	}
	return facts
}

// printCandidates writes a stage's list. Fusion and reranking say where a candidate came from.
func (a *app) printCandidates(s *rag.Span, passage func(id string) string) {
	head := []string{"rank", "score", "before", "passage"}
	moved := s.Moves != nil
	if !moved {
		head = []string{"rank", "score", "passage"}
	}
	width := a.width() - rankColumns
	if moved {
		width -= beforeColumns
	}
	t := newTable(head...).numbers(0, 1)
	for _, c := range s.Candidates[:min(len(s.Candidates), shownCandidates)] {
		row := []string{strconv.Itoa(c.Rank), fmt.Sprintf("%.4f", c.Score)}
		if moved {
			row = append(row, before(&c))
		}
		t.add(append(row, oneLine(passage(c.ChunkID), width))...)
	}
	t.print(a.out, a.paint(a.out), "  ")
	if more := s.Out - shownCandidates; more > 0 {
		fmt.Fprintf(a.out, "  … and %d more\n", more)
	}
}

// before shows where a candidate stood: "dense 4, sparse 2 (+2)" or "3 (−1)".
func before(c *rag.Candidate) string {
	var text string
	switch {
	case c.DenseRank != nil && c.SparseRank != nil:
		text = fmt.Sprintf("dense %d, sparse %d", *c.DenseRank, *c.SparseRank)
	case c.DenseRank != nil:
		text = fmt.Sprintf("dense %d", *c.DenseRank)
	case c.SparseRank != nil:
		text = fmt.Sprintf("sparse %d", *c.SparseRank)
	case c.RankBefore != nil:
		text = strconv.Itoa(*c.RankBefore)
	default:
		return "new"
	}
	if c.RankDelta != nil && *c.RankDelta != 0 {
		text += fmt.Sprintf(" (%+d)", *c.RankDelta)
	}
	return text
}

// passageLookup returns a function that turns a chunk ID into a file and the passage.
func passageLookup(ctx context.Context, eng *rag.Engine, collection string) func(id string) string {
	seen := map[string]string{} // the stages rank the same chunks
	return func(id string) string {
		if text, ok := seen[id]; ok {
			return text
		}
		text := id // not live any more: an ingest was cut short
		if c, err := eng.Chunk(ctx, collection, id); err == nil {
			text = place(c.URI) + ": " + c.Text
		}
		seen[id] = text
		return text
	}
}
