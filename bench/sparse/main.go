// Sparse measures the word index next to others on the same texts and questions: bleve in this process, bm25s and
// tantivy through Python. It is a module of its own, so that bleve stays out of the project's.
//
//	cd bench/sparse && go build -o sparse .
//	./sparse -python VENV/bin/python ../../../shared/data/ir
//
// VENV has bm25s, PyStemmer and tantivy. Without -python only the Go engines run. Each round indexes and asks every
// engine once, one after the other and on one processor; the table shows medians over the rounds.
//
// Besides the labelled sets there are passages recombined from the sentences of the English ones: the same for each
// run, as many as -passages says, asked the questions of all of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/bench/cputime"
	"github.com/seed-d8745b77/rag/bench/ir"
)

func main() {
	sets := flag.String("sets", "scifact,cranfield,xquad-en,cmrc2018,passages", "sets, by comma; passages are the recombined ones")
	passages := flag.Int("passages", 100_000, "number of recombined passages")
	rounds := flag.Int("rounds", 5, "rounds")
	k := flag.Int("k", 10, "matches wanted")
	python := flag.String("python", "", "Python with bm25s, PyStemmer and tantivy; empty: leave them out")
	flag.BoolVar(&cpu, "cpu", false, "take processor time, which a busy machine changes least, in place of the clock's")
	only := flag.String("engines", "", "engines, by comma; empty: all")
	flag.Parse()
	err := func() error {
		if flag.NArg() != 1 {
			return errors.New("usage: sparse [flags] FOLDER-OF-SETS")
		}
		runtime.GOMAXPROCS(1)
		for name := range strings.SplitSeq(*sets, ",") {
			set, err := read(flag.Arg(0), name, *passages)
			if err != nil {
				return err
			}
			if err := compare(os.Stdout, set, engines(*python, *only), *rounds, *k); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sparse:", err)
		os.Exit(1)
	}
}

// read reads a labelled set, or makes the recombined one of those in the folder.
func read(root, name string, passages int) (*ir.Set, error) {
	if name != "passages" {
		return ir.Read(filepath.Join(root, name))
	}
	var parts []*ir.Set
	for _, part := range []string{"scifact", "cranfield", "xquad-en"} {
		set, err := ir.Read(filepath.Join(root, part))
		if err != nil {
			return nil, err
		}
		parts = append(parts, set)
	}
	return recombine(parts, passages), nil
}

// outcome is what one engine did in one round.
type outcome struct {
	IndexSeconds float64    `json:"index_seconds"`
	Bytes        int64      `json:"bytes"`         // on disk
	QuerySeconds []float64  `json:"query_seconds"` // of each query
	Ranked       [][]string `json:"ranked"`        // IDs for each query
}

// engine indexes a set in an empty folder and asks its queries.
type engine struct {
	name string
	run  func(set *ir.Set, dir string, k int) (outcome, error)
}

func engines(python, only string) []engine {
	all := []engine{{"rag", runRag}, {"bleve", runBleve}}
	if python != "" {
		for _, name := range []string{"tantivy", "bm25s"} {
			all = append(all, engine{name, func(set *ir.Set, dir string, k int) (outcome, error) { return runPython(python, name, set, dir, k) }})
		}
	}
	return slices.DeleteFunc(all, func(e engine) bool { return only != "" && !slices.Contains(strings.Split(only, ","), e.name) })
}

// compare runs the rounds and prints a row for each engine.
func compare(w io.Writer, set *ir.Set, list []engine, rounds, k int) error {
	all := map[string][]outcome{}
	for range rounds {
		for _, e := range list {
			if set.Name == "cmrc2018" && (e.name == "tantivy" || e.name == "bm25s") {
				continue // neither cuts Chinese
			}
			dir, err := os.MkdirTemp("", "rag-sparse")
			if err != nil {
				return err
			}
			runtime.GC()
			o, err := e.run(set, dir, k)
			if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			all[e.name] = append(all[e.name], o)
		}
	}
	fmt.Fprintf(w, "\n%s: %d documents, %d queries, %d best, medians of %d\n\n", set.Name, len(set.Docs), len(set.Queries), k, rounds)
	fmt.Fprintln(w, "| engine | docs/s | queries/s | of bleve | p50 ms | p99 ms | MB | nDCG@10 |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, e := range list {
		if len(all[e.name]) > 0 {
			row(w, set, e.name, all)
		}
	}
	return nil
}

func row(w io.Writer, set *ir.Set, name string, all map[string][]outcome) {
	over := func(name string, of func(outcome) float64) float64 {
		var list []float64
		for _, o := range all[name] {
			list = append(list, of(o))
		}
		return quantile(list, 0.5)
	}
	perSecond := func(o outcome) float64 { return float64(len(o.QuerySeconds)) / sum(o.QuerySeconds) }
	ratio := "–"
	if len(all["bleve"]) > 0 {
		// A ratio for each round: what else the machine does is then much the same for both.
		var list []float64
		for i, o := range all[name] {
			list = append(list, perSecond(o)/perSecond(all["bleve"][i]))
		}
		ratio = fmt.Sprintf("%.2f", quantile(list, 0.5))
	}
	quality := "–"
	if len(set.Judged) > 0 {
		var mean ir.Mean
		for i, q := range set.Queries {
			mean.Add(ir.NDCG(all[name][0].Ranked[i], set.Judged[q.ID], 10))
		}
		quality = fmt.Sprintf("%.4f", mean.Value())
	}
	fmt.Fprintf(w, "| %s | %.0f | %.0f | %s | %.3f | %.3f | %.1f | %s |\n", name,
		over(name, func(o outcome) float64 { return float64(len(set.Docs)) / o.IndexSeconds }), over(name, perSecond), ratio,
		over(name, func(o outcome) float64 { return 1000 * quantile(o.QuerySeconds, 0.5) }),
		over(name, func(o outcome) float64 { return 1000 * quantile(o.QuerySeconds, 0.99) }),
		over(name, func(o outcome) float64 { return float64(o.Bytes) / 1e6 }), quality)
}

// quantile returns the value below which the share of the list lies.
func quantile(list []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func sum(list []float64) (total float64) {
	for _, v := range list {
		total += v
	}
	return total
}

// cpu is whether times are of the processor.
var cpu bool

// timed returns how long fn took, in seconds.
func timed(fn func() error) (float64, error) {
	if cpu {
		start := cputime.Used()
		err := fn()
		return (cputime.Used() - start).Seconds(), err
	}
	start := time.Now()
	err := fn()
	return time.Since(start).Seconds(), err
}

// folderSize is the size of the files in a folder, in bytes.
func folderSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		total += info.Size()
		return err
	})
	return total, err
}

// runPython runs engines.py, which reads the set from the folder and prints an outcome.
func runPython(python, name string, set *ir.Set, dir string, k int) (outcome, error) {
	var o outcome
	input := filepath.Join(dir, "set.json")
	type item struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	var in struct {
		Docs    []item `json:"docs"`
		Queries []item `json:"queries"`
	}
	for _, d := range set.Docs {
		in.Docs = append(in.Docs, item{d.ID, d.FullText()})
	}
	for _, q := range set.Queries {
		in.Queries = append(in.Queries, item{q.ID, q.Text})
	}
	data, err := json.Marshal(in)
	if err != nil {
		return o, err
	}
	if err := os.WriteFile(input, data, 0o600); err != nil {
		return o, err
	}
	clock := "wall"
	if cpu {
		clock = "cpu"
	}
	cmd := exec.CommandContext(context.Background(), python, "engines.py", name, input, filepath.Join(dir, "index"), fmt.Sprint(k), clock)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(out, &o)
}
