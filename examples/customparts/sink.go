package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// Lines is a trace sink that writes each trace as a line of JSON.
type Lines struct {
	mu sync.Mutex
	w  io.Writer
}

// NewLines returns a sink that writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Record writes a trace in one piece. It keeps nothing of it.
func (l *Lines) Record(ctx context.Context, t *rag.Trace) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("trace %s: %v: %w", t.ID, err, rag.ErrInvalid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(line, '\n'))
	return err
}
