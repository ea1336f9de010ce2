package main

import (
	"cmp"
	"time"

	"github.com/seed-d8745b77/rag/bench/cputime"
)

var started = time.Now()

// cpu returns the processor time of the process, or where there is none to be had the time since the start.
func cpu() time.Duration { return cmp.Or(cputime.Used(), time.Since(started)) }
