package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// printRun writes a run for a reader; changes is nil unless it was graded again.
func (a *app) printRun(r *eval.Run, changes *eval.RunComparison) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s: %s of %s, collection %s\n", p.bold(visible(r.Label)), count(len(r.Questions), "question"), visible(r.TestSet.Path), visible(r.Collection.Name))
	for _, problem := range r.Problems {
		a.note("%s", problem)
	}
	t := newTable("metric", "mean", "95 % interval", "n", "nulls").numbers(1, 3, 4)
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		s := r.Metrics[name]
		interval := ""
		if s.Low != nil {
			interval = fmt.Sprintf("[%.3f, %.3f]", *s.Low, *s.High)
		}
		t.add(visible(name), shownScore(s), interval, fmt.Sprint(s.N), fmt.Sprint(s.Nulls))
	}
	t.print(a.out, p, "")
	a.printWhy(r)
	if f := r.Refusal; f != nil {
		fmt.Fprintf(a.out, "refusals: precision %s, recall %s (%d of %d unanswerable refused, %d answerable refused)\n", shownShare(f.Precision), shownShare(f.Recall), f.Right, f.Unanswerable, f.Refused-f.Right)
	}
	a.printRouter(r.Router)
	fmt.Fprintf(a.out, "search: p50 %.1f ms, p95 %.1f ms", r.SearchMS.P50, r.SearchMS.P95)
	if r.AnswerMS != nil {
		fmt.Fprintf(a.out, "; answer: mean %.0f ms, p95 %.0f ms", r.AnswerMS.Mean, r.AnswerMS.P95)
	}
	fmt.Fprintln(a.out)
	if r.Outdated > 0 {
		fmt.Fprintf(a.out, "%s found a document first whose answer is out of date\n", count(r.Outdated, "question"))
	}
	if changes != nil {
		a.printRegraded(changes)
	}
}

// printWhy lists why metrics have nulls, each reason once.
func (a *app) printWhy(r *eval.Run) {
	reasons := map[string]int{}
	for _, s := range r.Metrics {
		for reason, n := range s.Why {
			reasons[reason] = max(reasons[reason], n)
		}
	}
	for _, reason := range sortedNotes(reasons) {
		fmt.Fprintf(a.out, "null for %s: %s\n", count(reasons[reason], "question"), visible(reason))
	}
}

func (a *app) printRouter(r *eval.Router) {
	if r == nil {
		return
	}
	fmt.Fprintf(a.out, "router: %.3f right of %d\n", r.Accuracy, r.N)
	for _, want := range slices.Sorted(maps.Keys(r.Confusion)) {
		var parts []string
		for _, got := range slices.Sorted(maps.Keys(r.Confusion[want])) {
			parts = append(parts, fmt.Sprintf("%s %d", visible(got), r.Confusion[want][got]))
		}
		fmt.Fprintf(a.out, "  %s → %s\n", visible(want), strings.Join(parts, ", "))
	}
}

func (a *app) printRegraded(c *eval.RunComparison) {
	if len(c.Changed) == 0 {
		fmt.Fprintln(a.out, "graded again: every value is as it was")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Changed)) {
		fmt.Fprintf(a.out, "graded again: %s changed in %s\n", visible(name), visible(strings.Join(c.Changed[name], ", ")))
	}
}

func shownShare(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}

type generateFlags struct {
	count int
	out   string
	rules bool
}

func newEvalGenerate(a *app) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Draft questions from a collection, for review",
		Long: `eval generate drafts questions from passages that are spread over the collection, as a test set for people to review. With a
chat model they are written by it, each with a sentence of the passage that answers it; without one, or with --cloze, they
are sentences with a gap.`,
		Example: examples("rag eval generate --count 40 --out drafts.jsonl", "rag eval generate --cloze --json"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.count < 1 {
				return usagef(cmd, "--count is %d: it must be at least 1", f.count)
			}
			if err := noDash(cmd, f.out); err != nil {
				return err
			}
			return a.evalGenerate(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.count, "count", "n", 20, "questions wanted")
	flags.StringVarP(&f.out, "out", "o", "", "file to write, which must not be there yet (default: print)")
	flags.BoolVar(&f.rules, "cloze", false, "sentences with a gap, also if there is a chat model")
	return cmd
}

// generatedJSON is what generate prints.
type generatedJSON struct {
	Path      *string      `json:"path"`
	Questions []eval.Draft `json:"questions"`
	Notes     []string     `json:"notes"`
}

func (a *app) evalGenerate(ctx context.Context, f generateFlags) error {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	return a.withExistingData(ctx, func(eng *rag.Engine) error {
		req := eval.GenerateRequest{Collection: a.collection, Count: f.count, Loaded: loaded}
		if !f.rules {
			req.Model = eng.ChatModel()
		}
		drafts, notes, err := eval.Generate(ctx, eng, req)
		if err != nil {
			return err
		}
		if len(drafts) == 0 {
			return fmt.Errorf("no passage gives a question%s: %w", firstOf(notes), rag.ErrNotFound)
		}
		var text strings.Builder
		for i := range drafts {
			line, err := drafts[i].MarshalLine()
			if err != nil {
				return err
			}
			text.Write(line)
		}
		if f.out != "" {
			if err := writeNew(f.out, text.String()); errors.Is(err, os.ErrExist) {
				return fmt.Errorf("%s is there already, and is left as it is: %w", visible(f.out), rag.ErrInvalid)
			} else if err != nil {
				return err
			}
		}
		for _, n := range notes {
			a.note("%s", n)
		}
		switch {
		case a.json:
			return a.printJSON(generatedJSON{orNull(f.out), drafts, append([]string{}, notes...)})
		case f.out == "":
			fmt.Fprint(a.out, text.String())
		default:
			fmt.Fprintf(a.out, "wrote %s to %s: review them before you measure by them\n", count(len(drafts), "question"), visible(f.out))
		}
		return nil
	})
}

func firstOf(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ", the first: " + notes[0]
}
