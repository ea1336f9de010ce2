// Command vectors measures the vector index beside hnswlib, usearch and FAISS, on one thread and on the same files:
//
//	python3 -m venv venv && venv/bin/pip install hnswlib usearch faiss-cpu numpy
//	go run ./bench/vectors data -dir sets                                             # write the sets
//	go run ./bench/vectors run -dir sets -python venv/bin/python > bench/vectors.md   # measure them
//	go run ./bench/vectors filters -dir sets                                          # the last of its tables alone
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/simd"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want a verb: data, run or filters")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := flags.String("dir", "", "folder of the sets")
	sets := flags.String("sets", "syn10k,real,syn100k", "sets, by commas")
	shared := flags.String("shared", "../shared", "folder of the shared data")
	python := flags.String("python", "", "python that has the peers; none: measure ours alone")
	rounds := flags.Int("rounds", 5, "how often each measurement is made")
	m := flags.Int("m", hnsw.DefaultM, "links of a node")
	ef := flags.Int("ef", hnsw.DefaultEfConstruction, "candidates of a node's links")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	names := strings.Split(*sets, ",")
	switch args[0] {
	case "data":
		return writeData(ctx, *dir, *shared, names)
	case "filters":
		return filtersOf(ctx, *dir, names)
	case "run":
		return measureAll(ctx, *dir, names, *python, *rounds, hnsw.Config{M: *m, EfConstruction: *ef})
	}
	return fmt.Errorf("unknown verb %q", args[0])
}

// preface is what the tables begin with; a row is an index, and a column "µs at 0.98" the time of a search at the width
// that finds that share of the true ten nearest.
const preface = `# Vector index: recall, speed and memory

Written by ` + "`go run ./bench/vectors run`" + `, which says how to run it. 384 dimensions, ten results, M %d, efConstruction %d, kernels %s.
Times are processor time on one thread, medians of %d rounds in which all indexes take turns; "µs at 0.98" is the time of a search as wide
as it takes to find 98 %% of the ten nearest, between two measured widths. "rescored" compares 20 candidates again as float32. Bytes are
those of vectors and links. syn sets are mixtures of 1,000 gaussians of Zipf's sizes and decaying spectrum; real is the sentences of
SciFact, Cranfield and XQuAD as the built-in model embeds them, asked with their questions. Self-recall is the share of the stored vectors
that are among the ten results of a search for them at the default width. Filters are asked through the vector store with its defaults
(int8, rescored), which scans where few match and walks the graph elsewhere; they select by chance, or one side of the space.
`

func measureAll(ctx context.Context, dir string, names []string, python string, rounds int, c hnsw.Config) (err error) {
	var p *peers
	if python != "" {
		if p, err = startPeers(ctx, python, "bench/vectors/peers.py"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
	}
	fmt.Printf(preface, c.M, c.EfConstruction, simd.Fastest().Name, rounds)
	for _, name := range names {
		s, engines, err := measureSet(ctx, dir, name, p, rounds, c)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		report(os.Stdout, s, engines)
		if err := churn(ctx, os.Stdout, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := filters(ctx, os.Stdout, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// sizes of the synthetic sets.
var sizes = map[string]int{"syn1k": 1000, "syn10k": 10_000, "syn30k": 30_000, "syn100k": 100_000, "syn1m": 1_000_000}

func writeData(ctx context.Context, dir, shared string, names []string) error {
	for _, name := range names {
		var s *set
		if name == "real" {
			var err error
			if s, err = embedded(ctx, shared); err != nil {
				return err
			}
		} else if n := sizes[name]; n > 0 {
			s = synthetic(name, n)
		} else {
			return fmt.Errorf("unknown set %q", name)
		}
		if err := s.write(dir); err != nil {
			return err
		}
	}
	return nil
}
