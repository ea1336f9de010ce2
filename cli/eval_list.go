package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag/eval"
)

func newEvalList(a *app) *cobra.Command {
	var results string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the runs that were kept",
		Long:    "eval list shows the runs of a folder, the newest first: what was asked, under which configuration, and what came of it.",
		Example: examples("rag eval list", "rag eval list --results nightly --json"),
		Args:    exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			runs, err := eval.Runs(a.runsDir(results))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Runs []eval.RunInfo `json:"runs"`
				}{runs})
			}
			a.printRuns(runs)
			return nil
		},
	}
	addResults(cmd.Flags(), &results)
	return cmd
}

func (a *app) printRuns(runs []eval.RunInfo) {
	t := newTable("label", "date", "test set", "configuration", "questions", "metrics").numbers(4)
	for _, r := range runs {
		if r.Error != "" {
			a.note("%s", message(r.Error))
			continue
		}
		set := r.TestSet.Path
		if r.Set != "" {
			set += " (" + r.Set + ")"
		}
		var metrics []string
		for _, h := range r.Headline {
			metrics = append(metrics, h.Metric+" "+shownScore(h.Score))
		}
		t.add(visible(r.Label), r.Created.Local().Format(time.DateTime), visible(set), r.ConfigHash, fmt.Sprint(r.Questions), visible(strings.Join(metrics, ", ")))
	}
	t.print(a.out, a.paint(a.out), "")
	fmt.Fprintln(a.out, count(len(runs), "run"))
}
