package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newExplain(a *app) *cobra.Command {
	var f queryFlags
	var target rag.ExplainTarget
	cmd := &cobra.Command{
		Use:   "explain QUESTION --chunk ID | --text SNIPPET | --document FILE|URI",
		Short: "Say where in the pipeline a passage rose, fell or was lost",
		Long: `explain asks the question and follows one passage through every stage: its rank in each whole list, also below the cut,
where it was lost, and a change that would have kept it, which it has tried. The passage is named by its ID, by words that
stand in it, or by its document: then it is the one that came furthest, and the others follow in brief. With --answer it
goes on into the answer: whether the passage came into the prompt, and was cited.`,
		Example: examples("rag explain \"notice period\" --text \"three months to the end of a quarter\"", "rag explain \"notice period\" --document docs/leave.md --answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(a, cmd, args)
			if err != nil {
				return err
			}
			given := 0
			for _, s := range []string{target.ChunkID, strings.TrimSpace(target.Text), target.URI} {
				if s != "" {
					given++
				}
			}
			if given != 1 {
				return usagef(cmd, "name the passage with one of --chunk, --text and --document")
			}
			if target.URI != "" {
				if target.URI, err = toURI(target.URI); err != nil {
					return err
				}
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				if err := f.inZone(cmd.Context(), eng, &q); err != nil {
					return err
				}
				x, err := eng.Explain(cmd.Context(), q, target)
				if err != nil {
					return err
				}
				return a.printExplanation(x)
			}, f.changes()...)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&target.ChunkID, "chunk", "", "ID of the passage")
	flags.StringVar(&target.Text, "text", "", "words of the passage: the first that has them is meant, as written or else in other capitals; white space does not matter")
	flags.StringVarP(&target.URI, "document", "d", "", "file or URI of its document")
	flags.BoolVar(&target.Answer, "answer", false, "follow it into the answer, which asks the chat model if there is one")
	f.add(cmd)
	return cmd
}

func (a *app) printExplanation(x *rag.Explanation) error {
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
	a.printPassages(x.Passages)
	return nil
}

// printPassages writes what became of the passages of a document, those that came furthest first.
func (a *app) printPassages(passages []rag.PassageFate) {
	if len(passages) == 0 {
		return
	}
	rank := func(n *int) string {
		if n == nil {
			return "–"
		}
		return strconv.Itoa(*n)
	}
	t := newTable("passage", "dense", "sparse", "fused", "rank", "chunk").numbers(0, 1, 2, 3, 4)
	for _, f := range passages {
		t.add(strconv.Itoa(f.Ordinal), rank(f.Dense), rank(f.Sparse), rank(f.Fused), rank(f.Rank), f.ChunkID)
	}
	fmt.Fprintln(a.out)
	t.print(a.out, a.paint(a.out), "  ")
}
