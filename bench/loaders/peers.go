package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// reading is what a tool made of a file.
type reading struct {
	Text  string  `json:"text"`
	CPU   float64 `json:"cpu"`   // seconds of user and system time; the least of several rounds
	Error string  `json:"error"` // "" if it was read
}

// command runs a program over a file: the process's start counts, as it does for whoever calls it.
func command(ctx context.Context, rounds int, name string, args ...string) reading {
	best := reading{}
	for i := range rounds {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		cmd := exec.CommandContext(ctx, name, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		cancel()
		if err != nil {
			return reading{Error: fmt.Sprintf("%v %.200s", err, errs.String())}
		}
		cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if i == 0 || cpu < best.CPU {
			best = reading{Text: out.String(), CPU: cpu}
		}
	}
	return best
}

//go:embed peers.py
var peers string

// python lets a peer read all files in one process, so that neither its start nor its imports count. The keys are
// the paths. passwords is by path.
func (b *bench) peer(ctx context.Context, name string, paths []string, passwords map[string]string) (map[string]reading, error) {
	job, err := json.Marshal(map[string]any{"peer": name, "paths": paths, "passwords": passwords, "rounds": b.rounds})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.python, "-c", peers)
	cmd.Stdin = bytes.NewReader(job)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, fmt.Errorf("%.500s", errs.String()))
	}
	var got map[string]reading
	return got, json.Unmarshal(out, &got)
}
