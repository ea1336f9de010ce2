package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

type calibrateFlags struct {
	questions string
	set       string
	dryRun    bool
}

func newCalibrate(a *app) *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Fit the confidence of answers to a set of questions",
		Long: `calibrate learns from questions of which it is known whether the collection answers them when an answer is to be refused,
and keeps that with the collection. It prints what the confidence does on questions that it was not fitted to, beside what
a threshold on the cosine of the nearest passage does.

The file has a JSON object on each line, with question (a text) and answerable (true or false), and as_of (a day) where it
matters. At least ten questions of each kind are needed; a hundred are better. Other keys are passed over.`,
		Example: examples("rag calibrate --questions questions.jsonl", "rag calibrate --questions questions.jsonl --set handbook --dry-run"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.questions == "" {
				return usagef(cmd, "no --questions given")
			}
			questions, err := f.read()
			if err != nil {
				return err
			}
			return a.calibrate(cmd.Context(), rag.CalibrateRequest{Collection: a.collection, Questions: questions, DryRun: f.dryRun})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.questions, "questions", "", "file of questions, a JSON object on each line")
	flags.StringVar(&f.set, "set", "", "take only the lines whose key set has this value")
	flags.BoolVar(&f.dryRun, "dry-run", false, "measure, and keep nothing")
	return cmd
}

// labelledLine is a line of the file of questions.
type labelledLine struct {
	Set        string `json:"set"`
	Question   string `json:"question"`
	Answerable *bool  `json:"answerable"`
	AsOf       string `json:"as_of"`
}

// read reads the questions. Errors name the line.
func (f *calibrateFlags) read() ([]rag.LabelledQuestion, error) {
	file, err := os.Open(f.questions)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []rag.LabelledQuestion
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		wrong := func(what any) error { return fmt.Errorf("%s:%d: %v: %w", f.questions, n, what, rag.ErrInvalid) }
		var line labelledLine
		if err := strict.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, wrong(err)
		}
		if f.set != "" && line.Set != f.set {
			continue
		}
		if line.Question == "" || line.Answerable == nil {
			return nil, wrong("a question needs the keys question and answerable")
		}
		q := rag.LabelledQuestion{Query: rag.Query{Text: line.Question}, Answerable: *line.Answerable}
		if line.AsOf != "" {
			var ok bool
			if q.Query.AsOf, ok = rag.FirstInstant(line.AsOf, time.UTC); !ok {
				return nil, wrong("as_of is no day like 2026-12-31")
			}
		}
		list = append(list, q)
	}
	return list, lines.Err()
}

// longestLine bounds a line of the file of questions, in bytes.
const longestLine = 1 << 20

func (a *app) calibrate(ctx context.Context, req rag.CalibrateRequest) error {
	return a.withExistingData(ctx, func(eng *rag.Engine) error {
		report, err := eng.Calibrate(ctx, req)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(report)
		}
		a.printCalibration(report, req.DryRun)
		return nil
	})
}

func (a *app) printCalibration(r *rag.CalibrationReport, dryRun bool) {
	fmt.Fprintf(a.out, "%s, %d of them answerable; each judged by a fit to the others\n\n", count(r.Calibration.Questions, "question"), r.Calibration.Answerable)
	t := newTable("answered", "wrongly, by confidence", "wrongly, by cosine").numbers(0, 1, 2)
	n := len(r.Evidence.Points)
	for tenth := 1; tenth <= 10; tenth++ {
		at := max(0, n*tenth/10-1)
		t.add(fmt.Sprintf("%d %%", 10*tenth), fmt.Sprintf("%.1f %%", 100*r.Evidence.Points[at].Risk), fmt.Sprintf("%.1f %%", 100*r.Cosine.Points[at].Risk))
	}
	t.add("mean", fmt.Sprintf("%.1f %%", 100*r.Evidence.Area), fmt.Sprintf("%.1f %%", 100*r.Cosine.Area))
	t.print(a.out, a.paint(a.out), "")
	f := r.Refusals
	fmt.Fprintf(a.out, "\nrefused below %.2f: %d of %d that cannot be answered, and %d of %d that can\n", f.Threshold, f.Right, f.Right+f.Missed, f.Wrong, f.Wrong+f.Answered)
	if dryRun {
		fmt.Fprintln(a.out, "nothing was kept")
	} else {
		fmt.Fprintln(a.out, "kept with the collection")
	}
}
