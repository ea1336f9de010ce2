package cli

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func newTraceShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Draw one trace: its stages in time, and how the passages moved",
		Long: `show draws the stages as bars on one axis of time; what ran at the same time stands below each other. Of a search follows the table
of passages with their place in each list: ▲2 moved up two places from the order of fusion, ▼1 down one, = stayed, "out" is
no result. Of an ingest follow the slowest files and those that failed. The beginning of an ID is enough.`,
		Example: examples("rag trace show 4f0a7c", "rag trace show 4f0a7c --json"),
		Args:    exactly(1, "the ID of a trace: `rag trace list` shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.traces().Get(cmd.Context(), args[0])
			if errors.Is(err, rag.ErrNotFound) {
				return fmt.Errorf("no trace %q: `rag trace list` shows those that are kept: %w", args[0], rag.ErrNotFound)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Trace     *rag.Trace      `json:"trace"`
					Waterfall trace.Waterfall `json:"waterfall"`
					Ranks     []trace.RankRow `json:"ranks"`
				}{&t, trace.NewWaterfall(&t), trace.RankTable(&t)})
			}
			a.showTrace(&t)
			return nil
		},
	}
}

func (a *app) showTrace(t *rag.Trace) {
	p := a.paint(a.out)
	facts := []string{t.ID, when(t.Timestamp), "collection " + t.Collection}
	if t.Mode != "" {
		facts = append(facts, "mode "+t.Mode)
	}
	fmt.Fprintf(a.out, "%s%s\n", p.bold(visible(t.Type)), p.dim(visible(" · "+strings.Join(facts, " · "))))
	if t.UserQuery != "" {
		fmt.Fprintf(a.out, "%s\n", p.cyan(oneLine(t.UserQuery, a.width())))
	}
	for _, source := range t.SourcePath {
		fmt.Fprintf(a.out, "%s\n", p.cyan(place(source)))
	}
	if t.Error != "" {
		fmt.Fprintf(a.out, "%s %s\n", p.red("failed:"), visible(t.Error))
	}
	a.printWaterfall(t)
	a.printFiles(t)
	a.printRanks(t)
	a.printOutcome(t)
	for _, n := range t.Notes {
		fmt.Fprintf(a.out, "%s %s\n", p.yellow("note:"), visible(n.Stage+": "+n.Reason))
	}
}

// Columns that the bars of a waterfall leave to the names and numbers beside them, and the fewest they have.
const (
	waterfallColumns = 52
	leastBar         = 20
)

// bar draws from start to end of total on so many columns: at least one cell, so that nothing that happened is invisible.
func bar(start, end, total float64, columns int, cell string) string {
	if total <= 0 || end <= 0 {
		return ""
	}
	scale := float64(columns) / total
	from := min(int(start*scale), columns-1)
	to := max(int(math.Round(end*scale)), from+1)
	return strings.Repeat(" ", from) + strings.Repeat(cell, to-from)
}

func (a *app) printWaterfall(t *rag.Trace) {
	w := trace.NewWaterfall(t)
	if len(w.Rows) == 0 {
		return
	}
	p, columns := a.paint(a.out), max(a.width()-waterfallColumns, leastBar)
	table := newTable("stage", "ms", "in", "out", "0"+strings.Repeat(" ", max(columns-len(ms(w.TotalMS))-1, 1))+ms(w.TotalMS)+" ms").numbers(1, 2, 3)
	for _, r := range w.Rows {
		if r.Stage == "" {
			table.add("(no stage)", ms(r.MS), "", "", bar(r.StartMS, r.EndMS, w.TotalMS, columns, "·"))
			continue
		}
		cell := "█"
		if r.Failed {
			cell = "×"
		}
		table.add(stageName(&r), ms(r.MS), strconv.Itoa(r.In), strconv.Itoa(r.Out), bar(r.StartMS, r.EndMS, w.TotalMS, columns, cell))
	}
	fmt.Fprintln(a.out)
	table.print(a.out, p, "")
	fmt.Fprintf(a.out, "%s\n", p.dim(fmt.Sprintf("%s ms in all, %s of them in no stage", ms(w.TotalMS), ms(w.GapMS))))
}

// mostMethod is how many columns the name of a provider gets: that of loading lists all loaders.
const mostMethod = 12

// stageName is a stage with its provider, and a sign that another ran beside it.
func stageName(r *trace.WaterfallRow) string {
	name := r.Stage
	if r.Method != "" {
		name += " · " + oneLine(r.Method, mostMethod)
	}
	if r.Parallel {
		name += " ∥"
	}
	if r.Failed {
		name += " failed"
	}
	return visible(name)
}

// shortStages are the letters of a file's stages in its bar.
var shortStages = map[string]string{rag.StageLoad: "l", rag.StageSplit: "s", rag.StageTransform: "t", rag.StageEmbed: "e", rag.StageUpsert: "u"}

func (a *app) printFiles(t *rag.Trace) {
	if c := t.Counts; c != nil {
		fmt.Fprintf(a.out, "\n%d added, %d updated, %d moved, %d unchanged, %d deleted, %d failed · %s, %s\n",
			c.Added, c.Updated, c.Moved, c.Unchanged, c.Deleted, c.Failed, count(c.Chunks, "passage"), count(c.Images, "picture"))
	}
	if len(t.Files) == 0 {
		return
	}
	columns := max(a.width()-waterfallColumns, leastBar)
	table := newTable("file", "ms", "bytes", "passages", "l load, s split, t transform, e embed, u upsert").numbers(1, 2, 3)
	for i := range t.Files {
		f := &t.Files[i]
		row := []string{oneLine(path.Base(filepath.ToSlash(place(f.URI))), waterfallColumns/2), ms(f.EndMS - f.StartMS), size(f.Bytes), strconv.Itoa(f.Chunks), fileBar(f, t.TotalMS, columns)}
		if f.Error != "" {
			row[4] = "failed: " + oneLine(f.Error, columns)
		}
		table.add(row...)
	}
	fmt.Fprintln(a.out)
	table.print(a.out, a.paint(a.out), "")
}

// fileBar draws the stages of a file with their letters; what it waited is dotted.
func fileBar(f *rag.FileTrace, total float64, columns int) string {
	cells := []rune(bar(f.StartMS, f.EndMS, total, columns, "·"))
	for _, s := range f.Stages {
		for i, c := range []rune(bar(s.StartMS, s.EndMS, total, columns, shortStages[s.Stage])) {
			if c != ' ' && i < len(cells) {
				cells[i] = c
			}
		}
	}
	return string(cells)
}

// shownOut is how many passages that are no results are printed; --json has all.
const shownOut = 10

func (a *app) printRanks(t *rag.Trace) {
	rows := trace.RankTable(t)
	if len(rows) == 0 {
		return
	}
	table := newTable("rank", "move", "dense", "sparse", "fused", "reranked", "score", "fate", "passage").numbers(0, 2, 3, 4, 5, 6)
	out := 0
	for _, r := range rows {
		if r.Rank == nil {
			if out++; out > shownOut {
				continue
			}
		}
		rank, score := "–", ""
		if r.Rank != nil {
			rank, score = strconv.Itoa(*r.Rank), fmt.Sprintf("%.4f", *r.Score)
		}
		passage := r.ChunkID
		if r.URI != "" {
			passage = place(r.URI) + " " + passage
		}
		if r.Reason != "" {
			passage += " (" + r.Reason + ")"
		}
		table.add(rank, move(&r), placeIn(r.Dense), placeIn(r.Sparse), placeIn(r.Fusion), placeIn(r.Rerank), score,
			strings.ReplaceAll(r.Fate, "_", " "), visible(passage))
	}
	fmt.Fprintln(a.out)
	table.print(a.out, a.paint(a.out), "")
	if out > shownOut {
		fmt.Fprintf(a.out, "… and %d more that are no results\n", out-shownOut)
	}
}

// move shows where a passage went: colour alone would tell some people nothing.
func move(r *trace.RankRow) string {
	switch r.Move {
	case trace.MoveUp:
		return fmt.Sprintf("▲%d", r.Delta)
	case trace.MoveDown:
		return fmt.Sprintf("▼%d", -r.Delta)
	case trace.MoveSame:
		return "="
	}
	return r.Move
}

// placeIn shows a place in a list.
func placeIn(p *trace.Place) string {
	if p == nil {
		return "–"
	}
	return strconv.Itoa(p.Rank)
}

func (a *app) printOutcome(t *rag.Trace) {
	ans := t.Answer
	if ans == nil {
		return
	}
	p := a.paint(a.out)
	line := fmt.Sprintf("answer: %s · %s · confidence %.2f", ans.Mode, ans.Reliability, ans.Confidence)
	if n := ans.Usage.InputTokens + ans.Usage.OutputTokens; n > 0 {
		line += fmt.Sprintf(" · %d tokens in, %d out", ans.Usage.InputTokens, ans.Usage.OutputTokens)
	}
	if ans.Reason != "" {
		line += " · " + ans.Reason
	}
	fmt.Fprintf(a.out, "\n%s\n", visible(line))
	for _, c := range ans.Citations {
		fmt.Fprintf(a.out, "  [%d] %s %s\n", c.Marker, visible(c.ChunkID), p.dim(visible(c.Verdict)))
	}
	if ans.Text != "" {
		for _, line := range wrap(visibleText(ans.Text), a.width()) {
			fmt.Fprintln(a.out, line)
		}
	}
}
