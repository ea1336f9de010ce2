package main

import "github.com/seed-d8745b77/rag/bench/cputime"

// cpuOf is the least CPU time in seconds of several runs after a first one, which warms up.
func cpuOf(rounds int, run func() error) float64 {
	best := 0.0
	for i := range rounds + 1 {
		start := cputime.Used()
		if run() != nil {
			return 0
		}
		if took := (cputime.Used() - start).Seconds(); i == 1 || i > 1 && took < best {
			best = took
		}
	}
	return best
}
