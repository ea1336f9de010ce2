package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

type searchFlags struct {
	queryFlags
	paths    []string
	question string
	explain  bool
	noRerank bool
	full     bool
}

func newSearch(a *app) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:     "search QUESTION",
		Aliases: []string{"query"},
		Short:   "Rank passages for a question",
		Long: `search prints the passages that answer a question best, with the file, the page or heading, and the place that each
stage gave them: dense (by meaning), sparse (by words), fused, reranked, shaped. With --path it ingests first, so that one
command does the whole job.`,
		Example: examples("rag search \"how long is the notice period?\"", "rag search --path docs \"notice period\" --top-k 3", "rag search \"travel\" --filter 'department = sales and year >= 2025' --as-of 2026-01-31", "rag search \"tuition fee\" --domain admissions.yaml --filter country=uk", "rag search '\"annual leave\" carr*' --phrase --prefix", "rag search \"notice period\" --collapse 0.9 --max-per-document 2 --neighbours 1", "rag search \"compare sick leave with parental leave\" --rewrite decompose --verbose"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.question != "" {
				args = append(args, f.question)
			}
			q, err := f.query(a, cmd, args)
			if err != nil {
				return err
			}
			q.Explain = f.explain || a.verbose
			return a.search(cmd.Context(), q, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.paths, "path", nil, "file or folder to ingest first; may come several times")
	flags.StringVarP(&f.question, "query", "q", "", "question, as if given as an argument")
	f.add(cmd)
	f.shape.addAround(cmd)
	f.shape.addHighlight(cmd)
	flags.BoolVar(&f.explain, "explain", false, "print each stage's list and what the question was made into; with --json, put the trace into the result")
	flags.BoolVar(&f.noRerank, "no-rerank", false, "leave the reranker out")
	flags.BoolVar(&f.full, "full", false, "print passages whole")
	return cmd
}

func (a *app) search(ctx context.Context, q rag.Query, f searchFlags) error {
	changes := f.changes()
	if f.noRerank {
		changes = append(changes, func(c *rag.Config) { c.Rerank = rag.ProviderConfig{Provider: rag.None} })
	}
	return a.withIngested(ctx, ingestFlags{paths: f.paths, domain: f.domain}, func(eng *rag.Engine) error {
		if err := f.inZone(ctx, eng, &q); err != nil {
			return err
		}
		return a.searchIn(ctx, eng, q, f.full)
	}, changes...)
}

// searchIn asks the engine and prints what it found.
func (a *app) searchIn(ctx context.Context, eng *rag.Engine, q rag.Query, full bool) error {
	res, err := eng.Search(ctx, q)
	if err != nil {
		return err
	}
	a.noteLess(res.Notes)
	if a.json {
		return a.printJSON(res)
	}
	if res.Trace != nil {
		a.printRewrites(res.Rewrites)
		a.printStages(ctx, eng, res)
	}
	if len(res.Hits) == 0 {
		fmt.Fprintln(a.out, "no passage matches")
		return nil
	}
	for i := range res.Hits {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.printHit(i+1, &res.Hits[i], res.Mode, full)
	}
	return nil
}

// shownLines is how many lines of a passage are printed without --full.
const shownLines = 8

// printHit writes one hit for a reader.
func (a *app) printHit(rank int, h *rag.Hit, mode rag.Mode, full bool) {
	p := a.paint(a.out)
	const indent = "    "
	fmt.Fprintf(a.out, "%s %s\n", p.bold(fmt.Sprintf("%2d.", rank)), p.cyan(place(h.Chunk.URI))+p.dim(where(&h.Chunk)))
	facts := []string{trail(h, mode), fmt.Sprintf("score %.4f", h.Score)}
	if h.Status != "" {
		facts = append(facts, strings.ReplaceAll(h.Status, "_", " "))
	}
	facts = append(facts, "chunk "+h.Chunk.ID)
	fmt.Fprintf(a.out, "%s%s\n", indent, p.dim(strings.Join(facts, " · ")))
	lines := a.markedLines(h.Chunk.Text, h.Highlights, a.width()-len(indent))
	for i, line := range lines {
		if i == shownLines && !full && len(lines) > shownLines+1 {
			fmt.Fprintf(a.out, "%s%s\n", indent, p.dim(fmt.Sprintf("… %d more lines, --full prints them", len(lines)-i)))
			break
		}
		fmt.Fprintf(a.out, "%s%s\n", indent, line)
	}
	for i := range h.Chunk.Images {
		fmt.Fprintf(a.out, "%s%s\n", indent, p.dim(oneLine(pictureLine(&h.Chunk, &h.Chunk.Images[i]), a.width()-len(indent))))
	}
	a.printAround(h, indent, full)
}

// where tells the place of a chunk in its document: page and headings, or the title where there are none.
func where(c *rag.Chunk) string {
	var parts []string
	if c.Page > 0 {
		parts = append(parts, fmt.Sprintf("page %d", c.Page))
	}
	if len(c.Headings) > 0 {
		parts = append(parts, visible(strings.Join(c.Headings, " › ")))
	} else if c.Title != "" {
		parts = append(parts, visible(c.Title))
	}
	if len(parts) == 0 {
		return ""
	}
	return " · " + strings.Join(parts, " · ")
}

// trail shows the ranks that the stages gave a hit: "dense #3 · sparse #1 · fused #1". A lane that was asked and did
// not have the hit has a dash.
func trail(h *rag.Hit, mode rag.Mode) string {
	var parts []string
	for _, stage := range []struct {
		name, shown string
		asked       bool
	}{
		{rag.StageDense, "dense", mode != rag.Sparse},
		{rag.StageSparse, "sparse", mode != rag.Dense},
		{rag.StageFusion, "fused", false},
		{rag.StageRerank, "reranked", false},
		{rag.StageShape, "shaped", false},
	} {
		if r, ok := h.RankAt(stage.name); ok {
			parts = append(parts, fmt.Sprintf("%s #%d", stage.shown, r.Position))
		} else if stage.asked {
			parts = append(parts, stage.shown+" –")
		}
	}
	return strings.Join(parts, " · ")
}
