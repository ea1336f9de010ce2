package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

type evalFlags struct {
	testSetFlags
	label     string
	results   string
	mode      string
	k         []int
	intent    string
	retrieval bool
	noSearch  bool
	regrade   string
	agent     bool
	backends  []string
	repeat    int
}

func newEval(a *app) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:     "eval --test-set FILE",
		Aliases: []string{"evaluate"},
		Short:   "Measure what is found and answered, on questions whose answers are known",
		Long: `eval asks a collection the questions of a test set, measures what is found (hit rate, recall, precision, MRR, MAP, nDCG, by
passage, key sentence, section and document), which questions are refused, how they are routed, and how good the answers
are, and keeps it all in one file for each label, eval/LABEL.json in the data folder, where the dashboard shows it.

--retrieval-only asks no chat model. --no-search looks whether the collection has what the test set expects. --regrade
measures what an earlier run kept again. docs/evaluation.md tells of test sets and metrics. Exit code 3: something was
measured, but searches failed, or the test set expects what the collection does not have.`,
		Example: examples("rag eval --test-set questions.jsonl --label baseline --retrieval-only", "rag eval --test-set questions.jsonl --set handbook -c handbook --label answers", "rag eval --regrade answers --label again", "rag eval --test-set questions.jsonl --no-search"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.testSet == "" && f.regrade == "":
				return usagef(cmd, "no --test-set given")
			case f.noSearch && (f.regrade != "" || f.retrieval):
				return usagef(cmd, "--no-search excludes --regrade and --retrieval-only")
			}
			return a.eval(cmd, f)
		},
	}
	f.add(cmd, "file of questions: JSON Lines, a JSON list, or an object that holds one")
	flags := cmd.Flags()
	flags.StringVarP(&f.label, "label", "l", eval.DefaultLabel, "name of the run, and of its file")
	addResults(flags, &f.results)
	flags.StringVarP(&f.mode, "mode", "m", "", "hybrid, dense or sparse (default: what the configuration enables)")
	flags.IntSliceVarP(&f.k, "k", "k", []int{1, 3, 5}, "places that the metrics look at")
	flags.BoolVar(&f.retrieval, "retrieval-only", false, "measure what is found, and answer nothing")
	flags.BoolVar(&f.noSearch, "no-search", false, "check only that the collection has what is expected, under filters and dates")
	flags.StringVar(&f.regrade, "regrade", "", "earlier run, by its label or its file: measure what it kept again")
	flags.BoolVar(&f.agent, "agent", false, "have the chat model search by itself")
	flags.StringVar(&f.intent, "intent", "intent", "key of the test set that holds the label which the router should give")
	flags.StringSliceVar(&f.backends, "evaluators", nil, "what judges answers: "+strings.Join(eval.BackendNames, ", ")+" (default: what the configuration says, else all that can)")
	flags.IntVar(&f.repeat, "repeat", 0, "times that the chat model judges each answer (default: the configured number, 1)")
	cmd.AddCommand(newEvalBEIR(a), newEvalValidate(a), newEvalGenerate(a), newEvalList(a), newEvalCompare(a), newEvalGate(a))
	return cmd
}

func (a *app) eval(cmd *cobra.Command, f evalFlags) error {
	ctx := cmd.Context()
	var old *eval.Run
	if f.regrade != "" {
		var err error
		if old, err = a.loadRun(f.regrade, f.results); err != nil {
			return err
		}
		f.fromRun(cmd, old)
	}
	set, err := a.testSet(&f.testSetFlags)
	if err != nil {
		return err
	}
	for _, p := range set.Problems {
		if a.verbose {
			a.note("%s", p)
		}
	}
	opts := eval.Options{Label: f.label, Collection: a.collection, Mode: rag.Mode(f.mode), K: f.k, Intent: f.intent, Program: version()}
	if old != nil && !hasAnswers(old) {
		run, err := eval.Regrade(ctx, old, set, opts)
		return a.evalDone(run, err, old, f)
	}
	if opts.Loaded, err = a.settings(); err != nil {
		return err
	}
	return a.withExistingData(ctx, func(eng *rag.Engine) error {
		if set, err = a.ruled(ctx, eng, set, &f.testSetFlags); err != nil {
			return err
		}
		if f.noSearch {
			return a.accept(ctx, eng, set)
		}
		if err := f.answering(ctx, a, eng, &opts); err != nil {
			return err
		}
		if old != nil {
			run, err := eval.Regrade(ctx, old, set, opts)
			return a.evalDone(run, err, old, f)
		}
		bar := a.evalProgress()
		opts.Progress = bar.questions
		run, err := eval.Evaluate(ctx, eng, set, opts)
		bar.clear()
		return a.evalDone(run, err, nil, f)
	})
}

// fromRun leaves to an earlier run what no flag says.
func (f *evalFlags) fromRun(cmd *cobra.Command, old *eval.Run) {
	flags := cmd.Flags()
	if f.testSet == "" {
		f.testSet = old.TestSet.Path
	}
	if !flags.Changed("set") {
		f.set = old.Set
	}
	if !flags.Changed("field") {
		f.fields = old.Fields
	}
	if !flags.Changed("k") {
		f.k = nil
	}
	if !flags.Changed("intent") {
		f.intent = ""
	}
	if !flags.Changed("label") {
		f.label = ""
	}
}

func hasAnswers(r *eval.Run) bool {
	return slices.ContainsFunc(r.Questions, func(o eval.Outcome) bool { return o.Answer != nil })
}

// answering fills in how questions are answered and answers judged.
func (f *evalFlags) answering(ctx context.Context, a *app, eng *rag.Engine, opts *eval.Options) error {
	if f.retrieval {
		return nil
	}
	d, err := f.domain.of(ctx, eng, opts.Collection)
	if err != nil {
		return err
	}
	searcher, err := newAgent(eng, d)
	if err != nil {
		return err
	}
	ask := searcher.Ask
	opts.Answers = "router"
	if f.agent {
		ask, opts.Answers = searcher.AskAgent, "agent"
	}
	opts.Answer = func(ctx context.Context, q rag.Query) (*rag.Answer, error) { return ask(ctx, rag.AskRequest{Query: q}) }
	opts.Evaluator, err = eval.EngineEvaluator(eng, a.dataDir(), f.backends, f.repeat)
	return err
}

// evalDone keeps a run and prints it. Something that was not measured makes the exit code that of a part.
func (a *app) evalDone(run *eval.Run, err error, old *eval.Run, f evalFlags) error {
	if err != nil {
		return err
	}
	path, err := a.saveRun(run, f.results)
	if err != nil {
		return err
	}
	var changes *eval.RunComparison
	if old != nil {
		changes = eval.CompareRuns(old, run)
	}
	if a.json {
		err = a.printJSON(struct {
			Path string `json:"path"`
			*eval.Run
		}{path, run})
	} else {
		a.printRun(run, changes)
		fmt.Fprintf(a.out, "\nkept in %s\n", visible(path))
	}
	if err == nil && !run.Complete() {
		return &reported{exitPartial}
	}
	return err
}

// accept checks the expectations of a test set without a search.
func (a *app) accept(ctx context.Context, eng *rag.Engine, set *eval.TestSet) error {
	got, err := eval.Accept(ctx, eng, a.collection, set)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(got)
	} else {
		for _, p := range got.Problems {
			fmt.Fprintln(a.out, visible(p.String()))
		}
		fmt.Fprintf(a.out, "%s, %s looked at, %d not met\n", count(got.Questions, "question"), count(got.Checked, "expectation"), len(got.Problems))
	}
	if err == nil && len(got.Problems) > 0 {
		return &reported{exitFailed}
	}
	return err
}
