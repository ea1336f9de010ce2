package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/racetest"
)

// result is what a run gave.
type result struct {
	options       options
	took          time.Duration
	before, after measurement // of the process, without the system
	samples       []measurement
	counts        map[string]int
	checked       int64
}

// left is by how much goroutines and descriptors may be more after the run than before it: those of the runtime, which come
// when they are first needed.
const left = 4

// half is the second half of a series.
func (r *result) half(i int) (values []float64) {
	for _, m := range r.samples[len(r.samples)/2:] {
		values = append(values, m[i])
	}
	return values
}

// judged is whether a series may not grow. The race detector's records of addresses do with what the process does (189 to
// 258 MB in half an hour, where it stays at 45 to 48 without it): resident memory is judged where it is not there.
func judged(i int) bool { return i != resident || !racetest.Detector }

// judge says what grew, and what is left when everything is closed.
func (r *result) judge() error {
	var errs []error
	for i := range all {
		if !judged(i) {
			continue
		}
		s, values := &all[i], r.half(i)
		if g, may := growth(values), s.allowance(values); g > may {
			errs = append(errs, fmt.Errorf("%s grew by %s within the second half: %s is allowed", s.name, s.say(g), s.say(may)))
		}
	}
	for _, i := range []int{goroutines, descriptors} {
		if r.after[i] > r.before[i]+left {
			errs = append(errs, fmt.Errorf("%s: %v before the run and %v after it: something was not closed", all[i].name, r.before[i], r.after[i]))
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		for _, m := range r.samples {
			if m[heap] > float64(limit) {
				errs = append(errs, fmt.Errorf("live heap of %s: the memory limit is %s", all[heap].say(m[heap]), all[heap].say(float64(limit))))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// rows are how many measurements the table shows.
const rows = 12

// fileOf names the report of a run, by whether it is one with the race detector.
var fileOf = map[bool]string{true: "soak.md", false: "soak-memory.md"}

// report is that file.
func (r *result) report() string {
	var b strings.Builder
	with, other, memory := "without the race detector", "with it", ""
	if racetest.Detector {
		with, other = "with the race detector", "without it"
		memory = "The detector keeps a record of what it saw of each address, in memory that the limit does not cover: resident memory, which that makes grow, is judged in the other run. "
	}
	b.WriteString("# Soak, " + with + "\n\nOne engine, served over HTTP, MCP and as a dashboard by one process, while clients change and read everything at once; a second run is [" + other + "](" + fileOf[!racetest.Detector] + "). " +
		"What they are shown is compared with a model all the time; at each measurement everything stops, the data are verified, and every document and passage is compared with the model.\n\n")
	limit := "none"
	if l := debug.SetMemoryLimit(-1); l < math.MaxInt64 {
		limit = fmt.Sprintf("%d MiB", l>>20)
	}
	fmt.Fprintf(&b, "    make soak SOAK=%v\n\n", r.options.length)
	fmt.Fprintf(&b, "%v, %d documents, %d writers, %d readers, memory limit %s, %s %s/%s with %d processors.\n\n",
		r.took.Round(time.Second), r.options.papers, r.options.writers, r.options.readers, limit, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	b.WriteString("| done | times |\n|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(&b, "| %s | %d |\n", what, r.counts[what])
	}
	fmt.Fprintf(&b, "\n%d parts of documents that were shown were compared with the model.\n\n## What the process holds\n\n", r.checked)
	b.WriteString("Memory is that after a collection of garbage, and includes what the clients hold; resident is the anonymous part. " + memory +
		"Growth is that of a line fitted by least squares through the second half.\n\n")
	r.table(&b)
	fmt.Fprintf(&b, "\nBefore the run the process had %s goroutines and %s file descriptors, after it, with everything closed, %s and %s.\n",
		all[goroutines].say(r.before[goroutines]), all[descriptors].say(r.before[descriptors]), all[goroutines].say(r.after[goroutines]), all[descriptors].say(r.after[descriptors]))
	return b.String()
}

// table shows some of the measurements, and what was made of all.
func (r *result) table(b *strings.Builder) {
	b.WriteString("| minute |")
	for _, s := range all {
		fmt.Fprintf(b, " %s |", s.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	shown := min(rows, len(r.samples))
	for row := range shown {
		at := (row + 1) * len(r.samples) / shown
		fmt.Fprintf(b, "| %.1f |", r.options.length.Minutes()*float64(at)/float64(r.options.samples))
		for i := range all {
			fmt.Fprintf(b, " %s |", all[i].say(r.samples[at-1][i]))
		}
		b.WriteString("\n")
	}
	if shown == 0 {
		return
	}
	lines := []struct {
		name string
		of   func(i int) string
	}{
		{"growth in the second half", func(i int) string { return all[i].say(growth(r.half(i))) }},
		{"allowed", func(i int) string {
			if !judged(i) {
				return "–"
			}
			return all[i].say(all[i].allowance(r.half(i)))
		}},
	}
	for _, line := range lines {
		fmt.Fprintf(b, "| %s |", line.name)
		for i := range all {
			fmt.Fprintf(b, " %s |", line.of(i))
		}
		b.WriteString("\n")
	}
}
