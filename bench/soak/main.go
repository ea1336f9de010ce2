// Soak has one engine work for a long time on everything at once: uploads, cancelled uploads, deletes, searches, answers,
// pages of the dashboard and calls over MCP, all over HTTP, while the indexes are built anew and backups are made.
//
//	make soak                       # thirty minutes with the race detector, the report is bench/soak.md, and thirty without it, soak-memory.md
//	make soak SOAK=1m SOAKREPORT=   # to try it
//
// What is read is compared with a model all the time: a document is whole or absent, and nothing is shown of a version that
// was replaced. Now and then everything stops, the data are verified and compared with the model, and goroutines, open files,
// memory and the files' sizes are measured. In the end a line is fitted through the second half of each of those
// measurements: what grows by more than its allowance fails the run, as does anything that was not as it should be.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

func main() {
	var o options
	flag.DurationVar(&o.length, "for", 30*time.Minute, "length of the run")
	flag.IntVar(&o.papers, "papers", 150, "documents that come and go")
	flag.IntVar(&o.writers, "writers", 3, "clients that change documents")
	flag.IntVar(&o.readers, "readers", 6, "clients that read")
	flag.IntVar(&o.samples, "samples", 120, "measurements, evenly over the run")
	flag.Uint64Var(&o.seed, "seed", 1, "of what the clients do")
	report := flag.String("report", "bench", "folder for the report; empty: only printed")
	flag.Parse()
	if err := run(o, *report); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options say how much is done.
type options struct {
	length                            time.Duration
	papers, writers, readers, samples int
	seed                              uint64
}

func run(o options, report string) error {
	res, err := soak(context.Background(), o, os.Stderr)
	if res == nil {
		return err
	}
	if err == nil {
		err = res.judge()
	}
	text := res.report()
	fmt.Print(text)
	if err != nil || report == "" {
		return err
	}
	return os.WriteFile(filepath.Join(report, fileOf[racetest.Detector]), []byte(text), 0o644)
}
