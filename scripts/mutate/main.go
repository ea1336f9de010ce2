// Command mutate measures the tests of a few packages where a wrong sign or a bound missed by one would spoil results
// without anything failing: it changes the code in one place at a time and counts which changes some test notices. From the
// project's folder:
//
//	go run ./scripts/mutate
//
// All mutants of a package are compiled into one test binary, each behind a switch that an environment variable turns on
// (mutant schemata: Untch, Offutt, Harrold: Mutation Analysis Using Mutant Schemata, ISSTA 1993). So a mutant costs a run of
// the tests that reach it, and no build. The tree is not touched: the changed files stand in for it by the go command's
// -overlay.
//
// A mutant that no test notices is either a test that is missing or a change that nobody can see. survivors.txt says which,
// for each; a survivor that it does not explain, and an explanation of a mutant that is killed, are errors.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
)

// subject is what is mutated together.
type subject struct {
	name  string
	dir   string   // of the package, from the root
	files []string // of the package; none: all
	tests string   // a pattern of names; "": all. Of many and slow tests, those that are about the files
}

// subjects are what issue reports would be worst about: scores and orders that are a little wrong look right.
var subjects = []subject{
	{name: "fusion", dir: "fusion"},
	{name: "filters", dir: ".", files: []string{"filter.go", "filter_notes.go", "filter_string.go", "filter_text.go"}, tests: "Filter|RangeOfDays|NoMeta"},
	{name: "citations", dir: "internal/cite", tests: "Clean|Count|Stream|WhatBecomes|Listed|Thoughts|Sentences|Claims|Overlap"},
	{name: "metrics", dir: "eval", files: []string{"compare.go", "match.go", "metric.go", "overlap.go", "pair.go", "score.go", "stats.go"},
		tests: "Metric|NDCG|Places|Percentile|Score|Compar|Interval|Overlap|Verified|Evaluator|Regrade|Reports|SameDocument|Levels|Sections|Fold|Runs|Latencies|Draws"},
	{name: "ranks", dir: ".", files: []string{"ranks.go", "scores.go"}, tests: "[Rr]ank|Moves|Trace|Stages|Waterfall|Score|SubQueries|LaneFailing|Span|LongList|SingleText|Shortened|Passages"},
}

// leastScore is the share of mutants of each subject that must be killed.
const leastScore = 0.8

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "mutate this subject alone, and write no report")
	every := flag.Int("every", 1, "try every n-th mutant alone, and write no report where n is above 1")
	again := flag.Bool("survivors", false, "try the mutants of survivors.txt alone, and write no report: after a change of tests or of the reasons")
	jobs := flag.Int("jobs", runtime.NumCPU(), "mutants at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, selection{*only, max(1, *every), *again}, *jobs); err != nil {
		log.Fatal(err)
	}
}

// selection is which mutants are tried.
type selection struct {
	only      string // subject; "": all
	every     int    // n-th mutant
	survivors bool   // those that are explained alone
}

// whole reports whether all are.
func (s selection) whole() bool { return s == selection{every: 1} }

// run mutates the subjects, prints what became of them, and writes the report if all of it was done.
func run(ctx context.Context, which selection, jobs int) error {
	const folder = "scripts/mutate"
	reasons, err := readReasons(filepath.Join(folder, "survivors.txt"))
	if err != nil {
		return err
	}
	var done []outcome
	for _, s := range subjects {
		if which.only != "" && s.name != which.only {
			continue
		}
		o, err := s.mutate(ctx, func(m mutant) bool {
			return m.number%which.every == 0 && (!which.survivors || reasons[m.key] != "")
		}, jobs)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println(o.row())
		done = append(done, *o)
	}
	if len(done) == 0 {
		return fmt.Errorf("no subject %q", which.only)
	}
	if which.whole() {
		if err := os.WriteFile("bench/mutation.md", report(done, reasons), 0o644); err != nil {
			return err
		}
	}
	return verdict(done, reasons, which.whole())
}

// mutate runs the mutants of a subject that are wanted.
func (s subject) mutate(ctx context.Context, wanted func(mutant) bool, jobs int) (*outcome, error) {
	p, err := load(ctx, s.dir, s.files)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	binary, mutants, err := p.build(ctx, work)
	if err != nil {
		return nil, err
	}
	b, err := newBench(ctx, s, binary, work, jobs)
	if err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !wanted(m) })
	fates, err := b.try(ctx, chosen, jobs)
	if err != nil {
		return nil, err
	}
	return &outcome{s, chosen, fates}, nil
}
