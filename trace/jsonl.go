// Package trace keeps the records of ingests and searches, and reads them back.
//
//	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
//	...
//	page, err := trace.NewIndex(dir).List(ctx, trace.Query{Text: "notice period"})
package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// Names of the files in the data directory. The time in the name of an old one is UTC and sorts.
const (
	fileName   = "traces.jsonl"
	oldPattern = "traces-*.jsonl"
	oldTime    = "20060102T150405.000000000Z"
)

const (
	defaultMaxBytes = 64 << 20
	defaultMaxTotal = 1 << 30 // about 100,000 searches
	totalParts      = 4       // of MaxTotalBytes that a file takes at most, so that little goes at once
)

// JSONLConfig sets where a JSONL sink turns to a new file, and which old ones it keeps. The file that is written to is
// never removed.
type JSONLConfig struct {
	// MaxBytes is the size that no file grows beyond, unless one trace alone is longer; 0: 64 MiB.
	MaxBytes int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"`
	// KeepFiles is the number of full files that are kept beside the one written to, newest first; 0: all.
	KeepFiles int `json:"keep_files" range:"[0,1000000]"`
	// KeepDays is how many days of 24 hours a file is kept after its newest trace. Each day then has files of its own, so
	// that no trace is kept a day longer. What is too old goes when the next trace is recorded; 0: it is kept.
	KeepDays int `json:"keep_days" range:"[0,36500]"`
	// MaxTotalBytes is what all files take together; a file is then at most a quarter of it. 0: 1 GiB, below 0: any size.
	MaxTotalBytes int64 `json:"max_total_bytes,omitzero" range:"[-1,1125899906842624] but 0"`
}

// JSONL is the trace sink "jsonl": it appends each trace as one line of JSON to traces.jsonl in its directory. When
// the file is full it is renamed to traces-<time>.jsonl. Directory and file are made by the first Record.
//
// It is safe for concurrent use, also by several processes: each line is one write to the end of the file. A process
// that dies leaves at most one broken line, which an [Index] skips and the next Record ends.
type JSONL struct {
	dir    string
	config JSONLConfig
	now    func() time.Time

	mu      sync.Mutex // one writer at a time, so that a file is rotated once
	cleaned bool       // old files were looked through: the settings may not be those of last time
}

var _ rag.TraceSink = (*JSONL)(nil)

// NewJSONL returns a sink that writes below dir. It touches nothing yet. Other negative sizes than MaxTotalBytes count as zero.
func NewJSONL(dir string, c JSONLConfig) *JSONL {
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.MaxTotalBytes == 0 {
		c.MaxTotalBytes = defaultMaxTotal
	}
	if c.MaxTotalBytes > 0 {
		c.MaxBytes = min(c.MaxBytes, max(c.MaxTotalBytes/totalParts, 1))
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

// open returns the file to append so many bytes to, after rotating it if they do not fit or it is of another day.
func (j *JSONL) open(more int64) (*os.File, error) {
	path := filepath.Join(j.dir, fileName)
	if err := datafile.NoLink(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(j.dir, datafile.DirMode); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.Size() > 0 && (info.Size()+more > j.config.MaxBytes || j.isOfAnotherDay(path)):
		if err := j.rotate(path); err != nil {
			return nil, err
		}
		j.cleaned = false
	}
	if !j.cleaned {
		if err := j.clean(); err != nil {
			return nil, err
		}
		j.cleaned = true
	}
	return datafile.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR)
}

// isOfAnotherDay reports whether traces are kept by the day and the file's first one is not of today.
func (j *JSONL) isOfAnotherDay(path string) bool {
	if j.config.KeepDays <= 0 {
		return false
	}
	f, err := datafile.Open(path)
	if err != nil {
		return false // rotated by another process just now
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	found := timestamp.FindSubmatch(head[:n])
	if found == nil {
		return false
	}
	first, err := time.Parse(time.RFC3339, string(found[1]))
	return err == nil && first.Format(time.DateOnly) != j.now().In(first.Location()).Format(time.DateOnly)
}

// timestamp finds the instant in the beginning of a trace: its third field. Its zone is that of the clock of the engine that
// began the file, and the day is one there: other engines that write to it may have another.
var timestamp = regexp.MustCompile(`"timestamp":"([^"]+)"`)

// rotate renames the full file, to a name behind those that are there: a clock that was put back must not make the newest
// traces the oldest, which go first. Where another process did it first, the file is no longer there, or is a new and small
// one: renamed too early, nothing of it is lost.
func (j *JSONL) rotate(path string) error {
	names, err := oldFiles(j.dir)
	if err != nil {
		return err
	}
	old := "traces-" + j.now().UTC().Format(oldTime) + ".jsonl"
	if n := len(names); n > 0 && names[n-1] >= old {
		old = nameBehind(names[n-1])
	}
	old = filepath.Join(j.dir, old)
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// nameBehind is the name of an old file that sorts behind another: of the next nanosecond. A name that has no time gets an x
// at its end.
func nameBehind(name string) string {
	begin, end := strings.TrimSuffix(name, ".jsonl"), ".jsonl"
	at, err := time.Parse("traces-"+oldTime, begin)
	if err != nil {
		return begin + "x" + end
	}
	return at.Add(1).Format("traces-"+oldTime) + end
}

// clean removes the full files that are not kept: too many, too old, or too large together.
func (j *JSONL) clean() error {
	names, err := oldFiles(j.dir)
	if err != nil {
		return err
	}
	c := j.config
	var oldest time.Time
	if c.KeepDays > 0 {
		oldest = j.now().Add(-time.Duration(c.KeepDays) * 24 * time.Hour)
	}
	room := c.MaxTotalBytes - c.MaxBytes // beside the file that is written to
	kept := 0
	for _, name := range slices.Backward(names) {
		path := filepath.Join(j.dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by another process
		}
		if err != nil {
			return err
		}
		room -= info.Size()
		if !info.ModTime().Before(oldest) && (c.KeepFiles <= 0 || kept < c.KeepFiles) && (c.MaxTotalBytes < 0 || room >= 0) {
			kept++
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
