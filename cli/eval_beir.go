package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

type beirFlags struct {
	variants []string
	metrics  []string
	split    bool
	runs     string
}

func newEvalBEIR(a *app) *cobra.Command {
	var f beirFlags
	cmd := &cobra.Command{
		Use:   "beir FOLDER",
		Short: "Measure the search on a labelled retrieval set",
		Long: `eval beir ingests a labelled set (corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv), asks all its queries in
every variant, and prints what was found and how long a search took. Each document is one passage, as published figures
have it. The data are made in a temporary folder, or in that of --dir, where the next run takes them up again.`,
		Example: examples("rag eval beir scifact --variants dense,sparse,hybrid --json", "rag eval beir scifact --variants hybrid,hybrid_rerank --dir scifact-data"),
		Args:    exactly(1, "the folder of a set"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.evalBEIR(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.variants, "variants", []string{"dense", "sparse", "hybrid"}, "variants: "+strings.Join(eval.VariantNames, ", "))
	flags.StringSliceVar(&f.metrics, "metrics", eval.DefaultMetrics, "metrics: hit@K, recall@K, precision@K, mrr, map, ndcg, ndcg_exp, the last four also with @K")
	flags.BoolVar(&f.split, "split", false, "cut documents into passages as an ingest does; a document counts by its best passage")
	flags.StringVar(&f.runs, "runs", "", "write each variant's rankings into this folder, in TREC's form")
	return cmd
}

func (a *app) evalBEIR(ctx context.Context, dir string, f beirFlags) error {
	set, err := eval.ReadBEIR(dir)
	if err != nil {
		return err
	}
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	variants, err := eval.Named(loaded.Config, f.variants)
	if err != nil {
		return err
	}
	if n := len(set.Problems()); n > 0 {
		a.note("%s of the set: `rag eval validate %s` names them; judged documents that the corpus does not have count as not found", count(n, "problem"), dir)
	}
	a.noteReranker(loaded.Config, f.variants)
	return a.withScratchDir(func(scratch string) error {
		x := &eval.Experiment{
			Name: set.Name, Questions: set.Questions(), Variants: variants, Metrics: f.metrics, Collection: a.collection, Distinct: true, Loaded: loaded,
			Lab: &eval.Lab{Dir: scratch, Collection: a.collection, Sources: set.Sources(), Options: set.Options(f.split)},
		}
		runs := &runWriter{dir: f.runs}
		if f.runs != "" {
			x.Ranked = runs.write
		}
		report, err := a.runExperiment(ctx, x)
		if err = errors.Join(err, runs.close()); err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(beirJSON(report))
		} else {
			a.printReport(report)
		}
		return errors.Join(err, whole(report))
	})
}

// beirReport is what `rag eval beir --json` prints.
type beirReport struct {
	Set       string        `json:"set"`
	Documents int           `json:"documents"`
	Queries   int           `json:"queries"`
	Variants  []beirVariant `json:"variants"`
}

type beirVariant struct {
	Variant string              `json:"variant"`
	Metrics map[string]*float64 `json:"metrics"`
	Latency eval.Latency        `json:"latency_ms"`
}

func beirJSON(r *eval.Report) beirReport {
	out := beirReport{r.Set, r.Documents, r.Questions, []beirVariant{}}
	for _, v := range r.Variants {
		means := map[string]*float64{}
		for name, score := range v.Metrics {
			means[name] = score.Mean
		}
		out.Variants = append(out.Variants, beirVariant{v.Variant, means, v.Latency})
	}
	return out
}

// runWriter writes rankings in TREC's form, a file for each variant.
type runWriter struct {
	dir  string
	name string
	file *os.File // of the variant that is being measured; nil before the first
}

func (w *runWriter) write(variant string, q *eval.Question, hits []eval.Found) error {
	if w.name != variant {
		if err := w.close(); err != nil {
			return err
		}
		if err := os.MkdirAll(w.dir, 0o755); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(w.dir, variant+".run"))
		if err != nil {
			return err
		}
		w.name, w.file = variant, f
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = eval.BEIRID(h.URI)
	}
	return eval.WriteRun(w.file, variant, q.ID, ids)
}

func (w *runWriter) close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// withScratchDir uses the folder of --dir, or one that is gone afterwards.
func (a *app) withScratchDir(use func(dir string) error) error {
	if a.dir != "" {
		return use(a.dir)
	}
	return inScratch(use)
}

// noteReranker says which reranker is measured where the configuration names none.
func (a *app) noteReranker(c rag.Config, variants []string) {
	for _, v := range variants {
		if v == "hybrid_rerank" && c.Rerank.Provider == rag.None {
			a.note("no reranker is configured: hybrid_rerank is measured with %s", eval.DefaultReranker)
		}
	}
}

// noteReport says where searches did less than was asked.
func (a *app) noteReport(r *eval.Report) {
	for _, v := range r.Variants {
		if v.Failed > 0 {
			a.note("%s: %s failed, and count in no metric", v.Variant, count(v.Failed, "search"))
		}
		for _, reason := range sortedNotes(v.Notes) {
			a.note("%s: %s in %d of %d searches", v.Variant, reason, v.Notes[reason], r.Questions)
		}
	}
}

// whole is exit code 3 where some searches of a measurement failed.
func whole(r *eval.Report) error {
	if slices.ContainsFunc(r.Variants, func(v eval.VariantReport) bool { return v.Failed > 0 }) {
		return &reported{exitPartial}
	}
	return nil
}
