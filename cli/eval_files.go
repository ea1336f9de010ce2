package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

func newEvalValidate(a *app) *cobra.Command {
	var f testSetFlags
	cmd := &cobra.Command{
		Use:   "validate FILE | --test-set FILE",
		Short: "Report everything that is wrong with a test set",
		Long: `eval validate reads a test set, or a folder of corpus.jsonl, queries.jsonl and qrels.tsv, and prints every problem with
its line. What keeps a question from being used makes the exit code 1; remarks do not. With --domain, filters are held
against its fields and vocabulary. It looks at no collection: ` + "`rag eval --no-search`" + ` does.`,
		Example: examples("rag eval validate questions.jsonl", "rag eval validate --test-set questions.jsonl --domain admissions.yaml"),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.testSet != "" {
				return exactly(0, "")(cmd, args)
			}
			return exactly(1, "the file of a test set")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f.testSet = append(args, f.testSet)[0]
			return a.evalValidate(&f)
		},
	}
	f.add(cmd, "file of questions, or folder of a labelled set, as if given as an argument")
	return cmd
}

// validatedJSON is what validate prints.
type validatedJSON struct {
	OK        bool           `json:"ok"`
	Questions int            `json:"questions"`
	Problems  []eval.Problem `json:"problems"`
}

func (a *app) evalValidate(f *testSetFlags) error {
	path := f.testSet
	out := validatedJSON{OK: true, Problems: []eval.Problem{}}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		set, err := eval.ReadBEIR(path)
		if err != nil {
			return err
		}
		out.Problems = append(out.Problems, set.Problems()...)
		wrong := map[string]bool{} // by ID
		for _, p := range out.Problems {
			wrong[p.ID] = wrong[p.ID] || p.Fatal
		}
		for _, q := range set.Queries {
			if !wrong[q.ID] {
				out.Questions++
			}
		}
	} else {
		set, problems, err := eval.CheckFile(path)
		if err != nil {
			return err
		}
		set = set.Only(f.set)
		set.Rename(f.fields)
		out.Questions, out.Problems = len(set.Questions), append(out.Problems, problems...)
		d, err := f.domain.load()
		if err != nil {
			return err
		}
		if d != nil {
			refused := set.Refused(asOfItself(d))
			out.Questions, out.Problems = out.Questions-len(refused), append(out.Problems, refused...)
		}
	}
	slices.SortStableFunc(out.Problems, func(p, q eval.Problem) int { return cmp.Compare(p.Line, q.Line) })
	out.OK = !slices.ContainsFunc(out.Problems, func(p eval.Problem) bool { return p.Fatal })
	if err := a.present(out, func() {
		p := a.paint(a.out)
		for _, problem := range out.Problems {
			kind := p.yellow("remark")
			if problem.Fatal {
				kind = p.red("problem")
			}
			fmt.Fprintf(a.out, "%s %s\n", kind, visible(problem.String()))
		}
		fmt.Fprintf(a.out, "%s can be used\n", count(out.Questions, "question"))
	}); err != nil {
		return err
	}
	if !out.OK {
		return &reported{exitFailed}
	}
	return nil
}

func newEvalCompare(a *app) *cobra.Command {
	var results string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs question by question",
		Long: `eval compare says how run B differs from run A in each metric: the mean difference, its 95 % interval (bootstrap), p of
a paired randomisation test, and how many questions got better and worse. A run is named by its label or its file.`,
		Example: examples("rag eval compare baseline new-model"),
		Args:    exactly(2, "two runs"),
		RunE: func(_ *cobra.Command, args []string) error {
			first, err := a.loadRun(args[0], results)
			if err != nil {
				return err
			}
			second, err := a.loadRun(args[1], results)
			if err != nil {
				return err
			}
			c := eval.CompareRuns(first, second)
			if a.json {
				return a.printJSON(c)
			}
			a.printCompared(c)
			return nil
		},
	}
	addResults(cmd.Flags(), &results)
	return cmd
}

// addResults adds the flag that says where runs are kept.
func addResults(flags *pflag.FlagSet, results *string) {
	flags.StringVar(results, "results", "", `folder of runs (default: "eval" in the data folder, which the dashboard shows)`)
}

// runsDir is where runs are kept: the folder that --results names, or the one of the data folder.
func (a *app) runsDir(results string) string {
	return cmp.Or(results, filepath.Join(a.dataDir(), "eval"))
}

// saveRun keeps a run. A link in the data folder is not followed; a folder that --results names may be one.
func (a *app) saveRun(run *eval.Run, results string) (path string, err error) {
	dir := a.runsDir(results)
	if results == "" {
		err = datafile.NoLink(dir)
	}
	if err == nil {
		path, err = run.Save(dir)
	}
	if err != nil && !errors.Is(err, rag.ErrInvalid) {
		err = fmt.Errorf("the run cannot be kept in %s: %w: name a folder that can be written with --results", visible(dir), err)
	}
	return path, err
}

// loadRun reads a run by its file or its label.
func (a *app) loadRun(name, results string) (*eval.Run, error) {
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".json") {
		return eval.LoadRun(name)
	}
	return eval.OpenRun(a.runsDir(results), name)
}

func (a *app) printCompared(c *eval.RunComparison) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s against %s: %s in both", p.bold(visible(c.B)), visible(c.A), count(c.Common, "question"))
	if n := len(c.OnlyA) + len(c.OnlyB); n > 0 {
		fmt.Fprintf(a.out, ", %d in one only", n)
	}
	fmt.Fprintln(a.out)
	for _, n := range c.Notes {
		a.note("%s", n)
	}
	t := newTable("metric", "n", "difference", "interval", "p", "won", "lost", "").numbers(1, 2, 4, 5, 6)
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		cells := comparisonCells("", name, c.Metrics[name])
		t.add(slices.Concat([]string{name, fmt.Sprint(c.Metrics[name].N)}, cells[2:])...)
	}
	t.print(a.out, p, "")
}

type gateFlags struct {
	least, drop []string
	baseline    string
	results     string
}

func newEvalGate(a *app) *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate [RUN]",
		Short: "Fail if a run is below what is wanted",
		Long: `eval gate holds a run, the one labelled latest if none is named, against rules, for continuous integration: --min says the
least mean of a metric, --max-drop how far it may fall below that of the run labelled baseline, or of --baseline. The exit
code is 1 if a rule is broken. A metric without a level means the finest level that the run has: chunk, key_sentence,
section, document. One that the run does not have breaks its rule.`,
		Example: examples("rag eval gate --min ndcg@10=0.7 --max-drop mrr=0.02", "rag eval gate new --baseline main --max-drop mrr=0.02 --max-drop document/hit@3=0"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(cmd, "too many arguments: %q", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.evalGate(cmd, append(args, eval.DefaultLabel)[0], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.least, "min", nil, "metric and least mean, such as ndcg@10=0.7; may come several times")
	flags.StringArrayVar(&f.drop, "max-drop", nil, "metric and how far it may fall below the baseline's; may come several times")
	flags.StringVar(&f.baseline, "baseline", eval.DefaultBaseline, "the run that --max-drop compares with")
	addResults(flags, &f.results)
	return cmd
}

func (a *app) evalGate(cmd *cobra.Command, name string, f gateFlags) error {
	rules, err := eval.ParseRules(f.least, f.drop)
	if err != nil {
		return usagef(cmd, "%s", message(err.Error()))
	}
	run, err := a.loadRun(name, f.results)
	if err != nil {
		return err
	}
	var baseline *eval.Run
	if len(f.drop) > 0 {
		if baseline, err = a.loadRun(f.baseline, f.results); err != nil {
			return err
		}
	}
	verdicts, ok := eval.Gate(run, baseline, rules)
	if a.json {
		err = a.printJSON(struct {
			OK    bool           `json:"ok"`
			Rules []eval.Verdict `json:"rules"`
		}{ok, verdicts})
	} else {
		a.printVerdicts(verdicts)
	}
	if err == nil && !ok {
		return &reported{exitFailed}
	}
	return err
}

func (a *app) printVerdicts(verdicts []eval.Verdict) {
	p := a.paint(a.out)
	for _, v := range verdicts {
		word, value := p.green("holds"), "none"
		if !v.OK {
			word = p.red("broken")
		}
		if v.Value != nil {
			value = fmt.Sprintf("%.4f", *v.Value)
		}
		fmt.Fprintf(a.out, "%s %s is %s, wanted %s", word, visible(v.Metric), value, v.Want)
		if v.Base != nil {
			fmt.Fprintf(a.out, " (%.4f)", *v.Base)
		}
		if v.Nulls > 0 {
			fmt.Fprintf(a.out, "; %s without a value", count(v.Nulls, "question"))
		}
		if v.Reason != "" {
			fmt.Fprintf(a.out, ": %s", visible(v.Reason))
		}
		fmt.Fprintln(a.out)
	}
}
