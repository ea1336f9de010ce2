// Package trace keeps the records of ingests and searches, and reads them back.
//
//	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
//	...
//	for t, err := range trace.Read(dir) { ... }
package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Names of the files in the data directory. The time in the name of an old one is UTC and sorts.
const (
	fileName   = "traces.jsonl"
	oldPattern = "traces-*.jsonl"
	oldTime    = "20060102T150405.000000000Z"
)

const (
	defaultMaxBytes = 64 << 20
	dirMode         = 0o700 // traces hold what people asked
	fileMode        = 0o600
)

// JSONLConfig sets where a JSONL sink turns to a new file.
type JSONLConfig struct {
	// MaxBytes is the size that no file grows beyond, unless one trace alone is longer; 0: 64 MiB.
	MaxBytes int64 `json:"max_bytes"`
	// KeepFiles is the number of full files that are kept beside the one written to, newest first; 0: all.
	KeepFiles int `json:"keep_files"`
}

// JSONL is the trace sink "jsonl": it appends each trace as one line of JSON to traces.jsonl in its directory. When
// the file is full it is renamed to traces-<time>.jsonl. Directory and file are made by the first Record.
//
// It is safe for concurrent use, also by several processes: each line is one write to the end of the file. A process
// that dies leaves at most one broken line, which [Read] skips and the next Record ends.
type JSONL struct {
	dir    string
	config JSONLConfig
	now    func() time.Time

	mu sync.Mutex // one writer at a time, so that a file is rotated once
}

var _ rag.TraceSink = (*JSONL)(nil)

// NewJSONL returns a sink that writes below dir. It touches nothing yet. Negative sizes count as zero.
func NewJSONL(dir string, c JSONLConfig) *JSONL {
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultMaxBytes
	}
	return &JSONL{dir: dir, config: c, now: time.Now}
}

// Record appends t.
func (j *JSONL) Record(ctx context.Context, t *rag.Trace) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("trace %s cannot be written as JSON: %v: %w", t.ID, err, rag.ErrInvalid)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.append(line); err != nil {
		return fmt.Errorf("append to %s: %w", fileName, err)
	}
	return nil
}

func (j *JSONL) append(line []byte) (err error) {
	f, err := j.open(int64(len(line)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	broken, err := endsBroken(f)
	if err != nil {
		return err
	}
	if broken {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return err
}

// open returns the file to append so many bytes to, after rotating it if they do not fit.
func (j *JSONL) open(more int64) (*os.File, error) {
	path := filepath.Join(j.dir, fileName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(j.dir, dirMode); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.Size() > 0 && info.Size()+more > j.config.MaxBytes:
		if err := j.rotate(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, fileMode)
}

// rotate renames the full file and removes what is beyond KeepFiles. Where another process did it first, the file is
// no longer there, or is a new and small one: renamed too early, nothing of it is lost.
func (j *JSONL) rotate(path string) error {
	old := filepath.Join(j.dir, "traces-"+j.now().UTC().Format(oldTime)+".jsonl")
	for _, err := os.Lstat(old); err == nil; _, err = os.Lstat(old) {
		old = old[:len(old)-len(".jsonl")] + "x.jsonl"
	}
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if j.config.KeepFiles <= 0 {
		return nil
	}
	files, err := oldFiles(j.dir)
	if err != nil {
		return err
	}
	for _, f := range files[:max(0, len(files)-j.config.KeepFiles)] {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// endsBroken reports whether the file ends inside a line, left by a process that died while it wrote.
func endsBroken(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
