package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// engine is a process that answers lines:
//
//	(at the start)    → "wall cpu": seconds it took to load
//	"run TOKENS TEXTS" → "wall cpu": seconds for one batch
//	"quit"            → "bytes": peak of resident memory
type engine struct {
	name    string
	command []string // the number of threads is appended
	threads int

	process           *exec.Cmd
	in                io.WriteCloser
	out               *bufio.Reader
	loadWall, loadCPU float64
	peak              float64
	times             map[int][][2]float64 // by tokens: wall and CPU seconds of each batch
}

func (e *engine) start(ctx context.Context) (err error) {
	args := append(slices.Clone(e.command[1:]), strconv.Itoa(e.threads))
	e.process = exec.CommandContext(ctx, e.command[0], args...)
	e.process.Stderr = os.Stderr
	if e.in, err = e.process.StdinPipe(); err != nil {
		return err
	}
	out, err := e.process.StdoutPipe()
	if err != nil {
		return err
	}
	e.out = bufio.NewReader(out)
	e.times = map[int][][2]float64{}
	if err := e.process.Start(); err != nil {
		return err
	}
	_, err = fmt.Fscanln(e.out, &e.loadWall, &e.loadCPU)
	return err
}

// run has a batch computed, and keeps its times if it counts.
func (e *engine) run(tokens, texts int, counts bool) error {
	if _, err := fmt.Fprintln(e.in, "run", tokens, texts); err != nil {
		return err
	}
	var t [2]float64
	if _, err := fmt.Fscanln(e.out, &t[0], &t[1]); err != nil {
		return err
	}
	if counts {
		e.times[tokens] = append(e.times[tokens], t)
	}
	return nil
}

func (e *engine) quit() error {
	if _, err := fmt.Fprintln(e.in, "quit"); err != nil {
		return err
	}
	if _, err := fmt.Fscanln(e.out, &e.peak); err != nil {
		return err
	}
	return e.process.Wait()
}

// kill ends a process that did not quit.
func (e *engine) kill() {
	if e.process.ProcessState == nil {
		_ = e.process.Process.Kill() // it may have ended by itself
		_ = e.process.Wait()
	}
}

// speed returns texts per CPU second and per second, each by the median batch.
func (e *engine) speed(tokens, texts int) (cpu, wall float64) {
	middle := func(i int) float64 {
		var all []float64
		for _, t := range e.times[tokens] {
			all = append(all, t[i])
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return float64(texts) / middle(1), float64(texts) / middle(0)
}
