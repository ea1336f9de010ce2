package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/bench/cputime"
	"github.com/seed-d8745b77/rag/internal/encoder"
)

// serve is the engine around the encoder.
func serve(ctx context.Context, in io.Reader, out io.Writer, o options, threads int) error {
	start, before := time.Now(), cputime.Used()
	m, err := load(o)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, time.Since(start).Seconds(), (cputime.Used() - before).Seconds())
	r := encoder.NewRunner(m, threads)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var tokens, texts int
		if _, err := fmt.Sscanf(lines.Text(), "run %d %d", &tokens, &texts); err != nil {
			_, err := fmt.Fprintln(out, peakBytes())
			return err
		}
		batch := sequences(tokens, texts)
		start, before := time.Now(), cputime.Used()
		if _, err := r.Embed(ctx, batch); err != nil {
			return err
		}
		fmt.Fprintln(out, time.Since(start).Seconds(), (cputime.Used() - before).Seconds())
	}
	return lines.Err()
}

func load(o options) (*encoder.Model, error) {
	if o.model != "" {
		return encoder.LoadDir(o.model, encoder.Options{})
	}
	file, err := os.ReadFile(o.weights)
	if err != nil {
		return nil, err
	}
	return encoder.Load(file)
}

// sequences returns ids that differ by text and place; onnx.py makes the same.
func sequences(tokens, texts int) [][]int32 {
	batch := make([][]int32, texts)
	for i := range batch {
		for j := range tokens {
			batch[i] = append(batch[i], int32(1000+(i*37+j*101)%20000))
		}
	}
	return batch
}

// peakBytes is the peak of this process's resident memory; 0 where the system has no such file.
func peakBytes() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); !ok || err != nil {
		return 0
	}
	return 1024 * kilobytes
}
