// Models measures the encoder next to Python's ONNX Runtime, in one run: texts per CPU second and per second for
// sequences of several lengths, time to load, and peak memory.
//
//	go run ./bench/models -model DIR -weights embed/local/model/weights.bin \
//	    -onnx MODEL.onnx -onnx-int8 INT8.onnx -python VENV/bin/python
//
// Each engine is a process of its own, for each number of threads. The processes take turns, a batch at a time, and
// the median of the rounds counts: so that what else the machine does falls on all of them alike.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.model, "model", "", "folder with config.json and model.safetensors, for fp32")
	flag.StringVar(&o.weights, "weights", "", "weights.bin, quantised")
	flag.StringVar(&o.onnx, "onnx", "", "the fp32 model for ONNX Runtime")
	flag.StringVar(&o.onnxInt8, "onnx-int8", "", "the quantised model for ONNX Runtime")
	flag.StringVar(&o.python, "python", "python3", "Python with numpy and onnxruntime")
	flag.StringVar(&o.script, "script", "bench/models/onnx.py", "the ONNX Runtime engine")
	flag.IntVar(&o.rounds, "rounds", 5, "batches for each engine and length")
	flag.IntVar(&o.texts, "texts", 8, "texts in a batch")
	flag.StringVar(&o.golden, "golden", "", "compare vectors with this file of scripts/models/golden_encoder.py instead")
	lengths := flag.String("tokens", "32,128,256", "lengths of the sequences, by comma")
	threads := flag.String("threads", "1,2", "numbers of threads, by comma")
	serveThreads := flag.Int("serve", 0, "be an engine with so many threads, on stdin and stdout")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() (err error) {
		if *serveThreads > 0 {
			return serve(ctx, os.Stdin, os.Stdout, o, *serveThreads)
		}
		if o.golden != "" {
			return check(ctx, os.Stdout, o)
		}
		if o.lengths, err = numbers(*lengths); err != nil {
			return err
		}
		if o.threads, err = numbers(*threads); err != nil {
			return err
		}
		return compare(ctx, os.Stdout, o)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "models:", err)
		os.Exit(1)
	}
}

// options are what to measure.
type options struct {
	model, weights, onnx, onnxInt8, python, script, golden string
	rounds, texts                                          int
	lengths, threads                                       []int
}

func numbers(list string) ([]int, error) {
	var out []int
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: want numbers above 0, by comma", list)
		}
		out = append(out, n)
	}
	return out, nil
}

// commands are the engines that o has the files for, without the number of threads; the one that ratios are to is the
// first.
func commands(o options) ([]engine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []engine
	if o.onnx != "" {
		all = append(all, engine{name: "ONNX Runtime fp32", command: []string{o.python, o.script, o.onnx}})
	}
	if o.onnxInt8 != "" {
		all = append(all, engine{name: "ONNX Runtime int8", command: []string{o.python, o.script, o.onnxInt8}})
	}
	if o.model != "" {
		all = append(all, engine{name: "encoder fp32", command: []string{self, "-model", o.model, "-serve"}})
	}
	if o.weights != "" {
		all = append(all, engine{name: "encoder quantised", command: []string{self, "-weights", o.weights, "-serve"}})
	}
	if len(all) == 0 {
		return nil, errors.New("no model is given, see -help")
	}
	return all, nil
}

// settle is how long an engine waits for its turn: idle threads of ONNX Runtime spin for a while after theirs.
const settle = 100 * time.Millisecond

// compare starts the engines, lets them take turns and writes the tables.
func compare(ctx context.Context, w io.Writer, o options) error {
	all, err := commands(o)
	if err != nil {
		return err
	}
	var running []*engine
	defer func() {
		for _, e := range running {
			e.kill()
		}
	}()
	for _, threads := range o.threads {
		for _, e := range all {
			e.threads = threads
			if err := e.start(ctx); err != nil {
				return fmt.Errorf("start %s: %w", e.name, err)
			}
			running = append(running, &e)
		}
	}
	for _, tokens := range o.lengths {
		for round := range o.rounds + 1 {
			for _, e := range running {
				if err := wait(ctx, settle); err != nil {
					return err
				}
				if err := e.run(tokens, o.texts, round > 0); err != nil { // the first round warms up
					return fmt.Errorf("%s: %w", e.name, err)
				}
			}
		}
	}
	for _, e := range running {
		if err := e.quit(); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return report(w, running, o)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func report(w io.Writer, all []*engine, o options) error {
	var out strings.Builder
	fmt.Fprintf(&out, "| engine | threads |%s load s | load CPU s | peak MB |\n|---|---|", heads(o.lengths))
	out.WriteString(strings.Repeat("---|", len(o.lengths)+3) + "\n")
	for _, e := range all {
		first := all[slices.IndexFunc(all, func(b *engine) bool { return b.threads == e.threads })]
		fmt.Fprintf(&out, "| %s | %d |", e.name, e.threads)
		for _, tokens := range o.lengths {
			cpu, wall := e.speed(tokens, o.texts)
			base, baseWall := first.speed(tokens, o.texts)
			fmt.Fprintf(&out, " %.1f (%.2f) · %.1f (%.2f) |", cpu, cpu/base, wall, wall/baseWall)
		}
		fmt.Fprintf(&out, " %.2f | %.2f | %.0f |\n", e.loadWall, e.loadCPU, e.peak/1e6)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func heads(lengths []int) string {
	var s strings.Builder
	for _, n := range lengths {
		fmt.Fprintf(&s, " %d tokens: texts/CPU s (ratio) · texts/s (ratio) |", n)
	}
	return s.String()
}
