package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// peers is peers.py, running.
type peers struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// answer is what it says.
type answer struct {
	Seconds float64 `json:"seconds"`
	Recall  float64 `json:"recall"`
}

func (a answer) took() time.Duration { return time.Duration(a.Seconds * float64(time.Second)) }

func startPeers(ctx context.Context, python, script string) (*peers, error) {
	p := &peers{command: exec.CommandContext(ctx, python, script)}
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.command.Start()
}

func (p *peers) ask(question map[string]any) (a answer, err error) {
	line, err := json.Marshal(question)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return a, err
	}
	reply, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("the peers ended: %w", err)
	}
	return a, json.Unmarshal(reply, &a)
}

func (p *peers) stop() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.command.Wait()
}
