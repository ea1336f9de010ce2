package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/eval"
)

// subjectFlags say what an experiment is made on: a test set and a collection, or a labelled set with its documents.
type subjectFlags struct {
	testSetFlags
	split bool
}

func (f *subjectFlags) add(cmd *cobra.Command) {
	f.testSetFlags.add(cmd, "file of questions for the collection, or folder of a labelled set (corpus.jsonl, queries.jsonl, qrels.tsv)")
	cmd.Flags().BoolVar(&f.split, "split", false, "with a labelled set: cut documents into passages as an ingest does")
}

// subject is what an experiment is made on.
type subject struct {
	name      string
	questions []eval.Question
	lab       *eval.Lab
	distinct  bool          // a document counts once
	loaded    config.Loaded // in force
}

// withSubject makes the subject ready and cleans up afterwards.
func (a *app) withSubject(ctx context.Context, cmd *cobra.Command, f subjectFlags, use func(*subject) error) error {
	if f.testSet == "" {
		return usagef(cmd, "no --test-set given")
	}
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.testSet); err == nil && info.IsDir() {
		set, err := eval.ReadBEIR(f.testSet)
		if err != nil {
			return err
		}
		return a.withScratchDir(func(scratch string) error {
			lab := &eval.Lab{Dir: scratch, Collection: a.collection, Sources: set.Sources(), Options: set.Options(f.split)}
			return use(&subject{set.Name, set.Questions(), lab, true, loaded})
		})
	}
	set, err := a.testSet(&f.testSetFlags)
	if err != nil {
		return err
	}
	return a.withExistingData(ctx, func(eng *rag.Engine) error {
		set, err := a.ruled(ctx, eng, set, &f.testSetFlags)
		if err != nil {
			return err
		}
		return inScratch(func(scratch string) error {
			return use(&subject{f.testSet, set.Questions, eval.NewCollectionLab(eng, a.dataDir(), a.collection, scratch), false, loaded})
		})
	})
}

// prepare gives a lab what all engines of the command get, and a bar.
func (a *app) prepare(l *eval.Lab, loaded *config.Loaded, bar *evalBar) {
	l.Options = append(l.Options, a.options(loaded, a.logger())...)
	l.Progress = bar.ingest
	if a.verbose {
		l.Note = func(text string) { fmt.Fprintln(a.err, text) }
	}
}

// runExperiment measures, shows progress, and notes where less was done than asked.
func (a *app) runExperiment(ctx context.Context, x *eval.Experiment) (*eval.Report, error) {
	bar := a.evalProgress()
	a.prepare(x.Lab, &x.Loaded, bar)
	x.Progress = bar.variant
	report, err := x.Run(ctx)
	bar.clear()
	if err != nil {
		return nil, err
	}
	a.noteReport(report)
	return report, nil
}

type experimentFlags struct {
	subjectFlags
	variants []string
	grid     string
	baseline string
	metrics  []string
}

func newExperiment(a *app) *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment --test-set FILE|FOLDER",
		Short: "Compare ways of searching: what they find, and how long they take",
		Long: `experiment asks the same questions of several variants, and says of each what was found, how long a search took, and how it
differs from the baseline: the mean difference with its 95 % interval (bootstrap), p of a paired randomisation test, and
the questions won and lost.

Variants are named, or come from a YAML file with lists of variants and a grid of values, whose keys are those of rag.yaml.
A variant with another splitter, embedder or index gets data of its own, in a temporary folder; the collection stays as it
is. docs/evaluation.md shows such a file.`,
		Example: examples("rag experiment --test-set questions.jsonl -c handbook --variants dense,sparse,hybrid,hybrid_rerank", "rag experiment --test-set scifact --grid grid.yaml --json"),
		Args:    exactly(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.experiment(cmd, f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.variants, "variants", []string{"dense", "sparse", "hybrid"}, "variants: "+strings.Join(eval.VariantNames, ", "))
	flags.StringVar(&f.grid, "grid", "", "YAML file of variants, in place of --variants")
	flags.StringVar(&f.baseline, "baseline", "", "variant that the others are compared with (default: the first)")
	flags.StringSliceVar(&f.metrics, "metrics", nil, "metrics: hit@K, recall@K, precision@K, mrr, map, ndcg, ndcg_exp, the last four also with @K; with a level before it, key_sentence/mrr (default "+strings.Join(eval.DefaultMetrics, ",")+")")
	return cmd
}

func (a *app) experiment(cmd *cobra.Command, f experimentFlags) error {
	ctx := cmd.Context()
	return a.withSubject(ctx, cmd, f.subjectFlags, func(s *subject) error {
		x := &eval.Experiment{Name: s.name, Lab: s.lab, Questions: s.questions, Collection: a.collection, Baseline: f.baseline, Metrics: f.metrics, Distinct: s.distinct, Loaded: s.loaded}
		var err error
		if f.grid == "" {
			a.noteReranker(s.loaded.Config, f.variants)
			x.Variants, err = eval.Named(s.loaded.Config, f.variants)
		} else {
			err = f.readGrid(x, s.loaded.Config)
		}
		if err != nil {
			return err
		}
		report, err := a.runExperiment(ctx, x)
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(report)
		} else {
			a.printReport(report)
		}
		return errors.Join(err, whole(report))
	})
}

// readGrid takes variants from a file; flags go before what it says.
func (f *experimentFlags) readGrid(x *eval.Experiment, base rag.Config) error {
	data, err := os.ReadFile(f.grid)
	if err != nil {
		return err
	}
	grid, variants, err := eval.ReadGrid(f.grid, data, base)
	if err != nil {
		return err
	}
	x.Variants = variants
	if x.Baseline == "" {
		x.Baseline = grid.Baseline
	}
	if x.Metrics == nil {
		x.Metrics = grid.Metrics
	}
	return nil
}

type tuneFlags struct {
	subjectFlags
	metric string
	chunks []int
	out    string
}

func newTune(a *app) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune --test-set FILE|FOLDER",
		Short: "Find settings of the search that find more",
		Long: `tune tries fusers, weights of the lanes, pools, depth and share of the reranker if one is configured, and with --chunk-sizes
sizes of passages, on one half of the questions, and judges what it chose on the other half. The settings are written, as a
part of rag.yaml, only if they are significantly better there, or as good and faster.`,
		Example: examples("rag tune --test-set questions.jsonl -c handbook", "rag tune --test-set scifact --metric ndcg@10 --out scifact.yaml"),
		Args:    exactly(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.tune(cmd, f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.metric, "metric", "ndcg@10", "what is made larger; a metric without a level means the finest that the questions have")
	flags.IntSliceVar(&f.chunks, "chunk-sizes", nil, "sizes of passages in tokens to try, such as 128,256; each is an ingest")
	flags.StringVarP(&f.out, "out", "o", "rag.tuned.yaml", "file for the settings, which must not be there yet")
	return cmd
}

// tunedJSON is what tune prints.
type tunedJSON struct {
	Path *string `json:"path"` // null: nothing was written
	*eval.Tuned
}

func (a *app) tune(cmd *cobra.Command, f tuneFlags) error {
	if err := noDash(cmd, f.out); err != nil {
		return err
	}
	if _, err := os.Stat(f.out); err == nil {
		return fmt.Errorf("%s is there already: name another file with --out: %w", visible(f.out), rag.ErrInvalid)
	}
	return a.withSubject(cmd.Context(), cmd, f.subjectFlags, func(s *subject) error {
		bar := a.evalProgress()
		a.prepare(s.lab, &s.loaded, bar)
		t := eval.Tuning{Lab: s.lab, Questions: s.questions, Collection: a.collection, Base: s.loaded.Config, Loaded: s.loaded, Metric: f.metric, Distinct: s.distinct, Chunks: f.chunks, Progress: bar.variant}
		tuned, err := t.Run(cmd.Context())
		bar.clear()
		if err != nil {
			return err
		}
		out := tunedJSON{Tuned: tuned}
		if tuned.Adopt {
			text, err := yaml.Marshal(tuned.Settings)
			if err != nil {
				return err
			}
			if err := writeNew(f.out, "# written by `rag tune`: "+tuned.Reason+"\n"+string(text)); err != nil {
				return err
			}
			out.Path = &f.out
		}
		if a.json {
			err = a.printJSON(out)
		} else {
			a.printTuned(out)
		}
		return errors.Join(err, whole(out.Report))
	})
}

func (a *app) printTuned(t tunedJSON) {
	p := a.paint(a.out)
	for _, step := range t.Steps {
		fmt.Fprintf(a.out, "%s: %s, of %d tried\n", p.bold(step.Step), visible(step.Chosen), len(step.Tried))
		table := newTable("setting", t.Metric, "95 % interval", "p50 ms").numbers(1, 3)
		for _, trial := range step.Tried {
			took := ""
			if trial.Latency != nil {
				took = fmt.Sprintf("%.1f", trial.Latency.P50)
			}
			table.add(visible(trial.Name), fmt.Sprintf("%.4f", trial.Mean), fmt.Sprintf("[%.4f, %.4f]", trial.Low, trial.High), took)
		}
		if a.verbose {
			table.print(a.out, p, "  ")
		}
	}
	fmt.Fprintf(a.out, "\nchosen on %s, judged on ", count(t.Trained, "question"))
	a.printReport(t.Report)
	fmt.Fprintf(a.out, "\n%s\n", visible(t.Reason))
	if t.Path != nil {
		fmt.Fprintf(a.out, "wrote the settings to %s\n", visible(*t.Path))
	} else {
		fmt.Fprintln(a.out, "no settings were written")
	}
}
