// Command engines measures the stores of several engines on the same chunks in one run: embedded, PostgreSQL, Chroma and
// Weaviate, through the contracts by which rag uses them. It starts the servers itself; one that is not installed is left out.
//
//	scripts/install-postgres && scripts/install-chroma && scripts/weaviate-cluster true
//	cd postgres && go build -o engines ./bench/engines
//	./engines -vectors DIR > ../bench/engines.md
//
// DIR keeps the vectors, which the built-in model computes once, a hundred in a second. The engines take turns, batch by batch and question by
// question, so that what else the machine does hits all of them alike.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-d8745b77/rag"
)

// options are what a run is made with.
type options struct {
	chunks, questions int
	shared, vectors   string
	engines           []string
}

func main() {
	var o options
	flag.IntVar(&o.chunks, "chunks", 50_000, "chunks to write")
	flag.IntVar(&o.questions, "questions", 1000, "questions to ask")
	flag.StringVar(&o.shared, "shared", "../../shared", "folder of the shared data")
	flag.StringVar(&o.vectors, "vectors", "", "folder that keeps the vectors; must be given")
	names := flag.String("engines", "embedded,postgres,chroma,weaviate", "engines, by commas; there are weaviate3 and postgres-halfvec, too")
	embedded := flag.String("memory", "", "for the program itself: open the embedded stores in this folder and tell their memory")
	flag.Parse()
	o.engines = strings.Split(*names, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o, *embedded)
	if err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, embedded string) (err error) {
	if o.vectors == "" {
		return errors.New("give the folder of the vectors: -vectors DIR")
	}
	d, err := read(ctx, o.shared, o.vectors, o.chunks, o.questions)
	if err != nil {
		return err
	}
	if embedded != "" {
		return tellMemory(ctx, embedded, d)
	}
	dir, err := os.MkdirTemp("", "engines")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	engines, missing, err := start(ctx, dir, o.engines)
	defer func() {
		for _, e := range engines {
			err = errors.Join(err, e.close())
		}
	}()
	if err != nil {
		return err
	}
	return measure(ctx, o, d, engines, missing)
}

// measure writes, asks and reports.
func measure(ctx context.Context, o options, d *data, engines []*engine, missing []string) error {
	if err := ingest(ctx, d, engines); err != nil {
		return err
	}
	dense, err := askVectors(ctx, d, engines)
	if err != nil {
		return err
	}
	words, err := askWords(ctx, d, engines)
	if err != nil {
		return err
	}
	for _, e := range engines {
		if err := e.weigh(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	fmt.Printf("# Engines side by side\n\nWritten by `postgres/bench/engines`, which says how to run it. %d chunks, each %d sentences of SciFact, Cranfield and XQuAD (%.0f bytes in the\nmean), with the built-in model's vectors of %d numbers; %d of the sets' questions, ten results; %d processors, all servers on the same machine.\n",
		len(d.chunks), sentences, d.meanText(), len(d.chunks[0].vector), len(d.questions), runtime.GOMAXPROCS(0))
	for _, m := range missing {
		fmt.Printf("\nLeft out: %s.\n", m)
	}
	report(os.Stdout, d, engines, dense, words)
	fmt.Print(reading)
	return nil
}

// start opens the engines asked for, and tells which are not installed.
func start(ctx context.Context, dir string, names []string) (engines []*engine, missing []string, err error) {
	for _, name := range names {
		open, known := opens[name]
		if !known {
			return engines, nil, fmt.Errorf("unknown engine %q", name)
		}
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			return engines, nil, err
		}
		e, err := open(ctx, at)
		if errors.Is(err, rag.ErrNotFound) {
			missing = append(missing, err.Error())
			continue
		}
		if err != nil {
			return engines, nil, fmt.Errorf("%s: %w", name, err)
		}
		e.name = name
		engines = append(engines, e)
		say("%s started", name)
	}
	if len(engines) == 0 || engines[0].name != "embedded" {
		return engines, nil, errors.New("embedded must come first: the others are compared with it")
	}
	return slices.Clip(engines), missing, nil
}

func say(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }
