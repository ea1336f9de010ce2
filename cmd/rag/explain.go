package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newExplain(a *app) *cobra.Command {
	var f queryFlags
	var chunk, text string
	cmd := &cobra.Command{
		Use:   "explain QUESTION --chunk ID | --text SNIPPET",
		Short: "Say where in the pipeline a passage rose, fell or was lost",
		Long: `explain asks the question and follows one passage through every stage: its rank in each whole list, also below the cut,
and where it was lost. The passage is named by its ID, or by words that stand in it.`,
		Example: examples("rag explain \"notice period\" --text \"three months to the end of a quarter\""),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(a, cmd, args)
			if err != nil {
				return err
			}
			if (chunk == "") == (strings.TrimSpace(text) == "") {
				return usagef(cmd, "name the passage with either --chunk or --text")
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				return a.explain(cmd.Context(), eng, q, chunk, text)
			}, f.changes()...)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&chunk, "chunk", "", "ID of the passage")
	flags.StringVar(&text, "text", "", "words of the passage: the first that has them is meant; white space does not matter")
	f.add(cmd)
	return cmd
}

func (a *app) explain(ctx context.Context, eng *rag.Engine, q rag.Query, chunk, text string) error {
	if chunk == "" {
		var err error
		if chunk, err = findPassage(ctx, eng, q.Collection, text); err != nil {
			return err
		}
	}
	x, err := eng.Explain(ctx, q, chunk)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(x)
	}
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s\n", p.cyan(place(x.URI))+p.dim(" · chunk "+x.ChunkID+" · mode "+string(x.Mode)))
	t := newTable("stage", "rank", "score", "kept", "why").numbers(1, 2)
	for _, s := range x.Stages {
		row := []string{s.Stage, "–", "–", "no", visible(s.Reason)}
		if s.Rank != nil {
			row[1] = strconv.Itoa(*s.Rank)
		}
		if s.Score != nil {
			row[2] = fmt.Sprintf("%.4f", *s.Score)
		}
		if s.Kept {
			row[3] = "yes"
		}
		t.add(row...)
	}
	t.print(a.out, p, "  ")
	fmt.Fprintf(a.out, "%s\n", p.bold(visible(x.Verdict)))
	return nil
}

// findPassage returns the ID of the first passage that contains the words.
func findPassage(ctx context.Context, eng *rag.Engine, collection, words string) (string, error) {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	want := fold(words)
	for c, err := range eng.Chunks(ctx, collection, rag.Filter{}) {
		if err != nil {
			return "", err
		}
		if strings.Contains(fold(c.Text), want) {
			return c.ID, nil
		}
	}
	return "", fmt.Errorf("no passage contains %q: %w", want, rag.ErrNotFound)
}
