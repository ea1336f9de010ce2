package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// engine is an index to measure: ours, or one of the peers.
type engine struct {
	name   string
	flat   bool
	kind   slab.Kind
	build  func() (took time.Duration, err error)
	search func(ef int) (recall float64, each time.Duration, err error)

	built  time.Duration
	bytes  int64 // of a vector, 0 if not known
	points []point
	times  map[int][]time.Duration // by ef
}

// point is a place on an engine's curve.
type point struct {
	ef     int
	recall float64
	each   time.Duration // median
}

// ours returns our engines over a set.
func ours(ctx context.Context, s *set, truth [][]uint32, c hnsw.Config) []*engine {
	var all []*engine
	for _, e := range []*engine{
		{name: "rag float32", kind: slab.Float32},
		{name: "rag int8, rescored", kind: slab.Int8},
		{name: "rag flat float32", kind: slab.Float32, flat: true},
		{name: "rag flat int8, rescored", kind: slab.Int8, flat: true},
	} {
		var x *index
		e.build = func() (took time.Duration, err error) {
			x, took, err = newIndex(ctx, s, e.kind, e.flat, c)
			if err == nil {
				e.bytes = x.bytes() / int64(len(s.base))
			}
			return took, err
		}
		e.search = func(ef int) (float64, time.Duration, error) { return x.measure(ctx, s, truth, ef) }
		all = append(all, e)
	}
	return all
}

// theirs returns the peers' engines.
func theirs(p *peers, c hnsw.Config) []*engine {
	var all []*engine
	for _, e := range []*engine{
		{name: "hnswlib"}, {name: "usearch"}, {name: "usearch i8"}, {name: "faiss HNSW"}, {name: "faiss flat", flat: true},
	} {
		e.build = func() (time.Duration, error) {
			a, err := p.ask(map[string]any{"build": e.name, "m": c.M, "ef": c.EfConstruction})
			return a.took(), err
		}
		e.search = func(ef int) (float64, time.Duration, error) {
			a, err := p.ask(map[string]any{"search": e.name, "ef": ef})
			return a.Recall, a.took(), err
		}
		all = append(all, e)
	}
	return all
}

// measureSet builds all engines over a set and searches with each in turn, rounds times, so that all meet the same
// disturbances.
func measureSet(ctx context.Context, dir, name string, p *peers, rounds int, c hnsw.Config) (*set, []*engine, error) {
	s, err := read(dir, name)
	if err != nil {
		return nil, nil, err
	}
	truth, err := exactResults(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	engines := ours(ctx, s, truth, c)
	if p != nil {
		if err := writeTruth(filepath.Join(dir, name+".truth.u32"), truth); err != nil {
			return nil, nil, err
		}
		if _, err := p.ask(map[string]any{"set": filepath.Join(dir, name)}); err != nil {
			return nil, nil, err
		}
		engines = append(engines, theirs(p, c)...)
	}
	for _, e := range engines {
		if e.built, err = e.build(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.name, err)
		}
		e.times = map[int][]time.Duration{}
	}
	for round := range rounds {
		for _, ef := range widths() {
			for _, e := range engines {
				if e.flat && ef != firstEf {
					continue
				}
				recall, each, err := e.search(ef)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", e.name, err)
				}
				e.times[ef] = append(e.times[ef], each)
				if round == 0 {
					e.points = append(e.points, point{ef: ef, recall: recall})
				}
			}
		}
	}
	for _, e := range engines {
		for i := range e.points {
			times := e.times[e.points[i].ef]
			slices.Sort(times)
			e.points[i].each = times[len(times)/2]
		}
	}
	return s, engines, nil
}

// exactResults returns the best results of each query by comparing with all vectors.
func exactResults(ctx context.Context, s *set) ([][]uint32, error) {
	x, _, err := newIndex(ctx, s, slab.Float32, true, hnsw.Config{})
	if err != nil {
		return nil, err
	}
	defer x.close()
	var w searcher
	var all [][]uint32
	for _, q := range s.queries {
		hits, err := x.search(ctx, &w, q, 0)
		if err != nil {
			return nil, err
		}
		var slots []uint32
		for _, h := range hits {
			slots = append(slots, h.Slot)
		}
		all = append(all, slots)
	}
	return all, nil
}

func writeTruth(file string, truth [][]uint32) error {
	var raw []byte
	for _, slots := range truth {
		for _, slot := range slots {
			raw = binary.LittleEndian.AppendUint32(raw, slot)
		}
	}
	return os.WriteFile(file, raw, 0o600)
}

// timeAt returns the time of a search that reaches a recall, between two points of the curve; 0 if none does.
func (e *engine) timeAt(recall float64) time.Duration {
	for i, p := range e.points {
		if p.recall < recall {
			continue
		}
		if i == 0 || e.points[i-1].recall >= p.recall {
			return p.each
		}
		before := e.points[i-1]
		share := (recall - before.recall) / (p.recall - before.recall)
		return time.Duration(math.Round(float64(before.each) + share*float64(p.each-before.each)))
	}
	return 0
}

// levels are where curves are compared.
var levels = []float64{0.95, 0.98, 0.99, 0.995}

// report writes the tables of a set.
func report(w io.Writer, s *set, engines []*engine) {
	fmt.Fprintf(w, "\n## %s: %d vectors, %d queries\n\n", s.name, len(s.base), len(s.queries))
	fmt.Fprint(w, "| index | build s | bytes a vector |")
	for _, l := range levels {
		fmt.Fprintf(w, " µs at %g |", l)
	}
	fmt.Fprint(w, " speed at 0.98, hnswlib = 1 | recall at ef 64 | at ef 256 |\n| --- |")
	fmt.Fprintln(w, " --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var reference time.Duration
	for _, e := range engines {
		if e.name == "hnswlib" {
			reference = e.timeAt(0.98)
		}
	}
	for _, e := range engines {
		fmt.Fprintf(w, "| %s | %s | %s |", e.name, orDash(e.built.Seconds(), "%.2f"), orDash(float64(e.bytes), "%.0f"))
		for _, l := range levels {
			fmt.Fprintf(w, " %s |", orDash(float64(e.timeAt(l))/1e3, "%.0f"))
		}
		ratio := 0.0
		if t := e.timeAt(0.98); t > 0 {
			ratio = float64(reference) / float64(t)
		}
		fmt.Fprintf(w, " %s | %s | %s |\n", orDash(ratio, "%.2f"), orDash(e.recallAt(64), "%.4f"), orDash(e.recallAt(256), "%.4f"))
	}
}

func (e *engine) recallAt(ef int) float64 {
	for _, p := range e.points {
		if p.ef == ef || e.flat {
			return p.recall
		}
	}
	return 0
}

func orDash(x float64, format string) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf(format, x)
}
