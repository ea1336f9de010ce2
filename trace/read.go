package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// oldFiles returns the full files below dir, oldest first.
func oldFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if ok, _ := filepath.Match(oldPattern, e.Name()); ok && !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(files)
	return files, nil
}

// Read yields the traces that a [JSONL] sink wrote below dir, oldest file first and in the order of writing. Lines
// that are no trace are skipped: a process died while it wrote them. A directory that does not exist has no traces.
// An error ends the sequence.
func Read(dir string) iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		files, err := oldFiles(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(rag.Trace{}, fmt.Errorf("read traces: %w", err))
			return
		}
		for _, f := range append(files, filepath.Join(dir, fileName)) {
			more, err := readFile(f, yield)
			if err != nil {
				yield(rag.Trace{}, fmt.Errorf("read traces: %w", err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// readFile yields the traces of one file and reports whether the consumer wants more. A file that is gone, because it
// was just rotated or removed, has none.
func readFile(path string, yield func(rag.Trace, error) bool) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		var t rag.Trace
		if json.Unmarshal(line, &t) == nil && t.ID != "" && !yield(t, nil) {
			return false, nil
		}
		if err != nil {
			return true, nil
		}
	}
}

// Find returns the newest trace below dir with this ID, or rag.ErrNotFound.
func Find(dir, id string) (rag.Trace, error) {
	var found rag.Trace
	for t, err := range Read(dir) {
		if err != nil {
			return rag.Trace{}, err
		}
		if t.ID == id {
			found = t
		}
	}
	if found.ID == "" {
		return found, fmt.Errorf("no trace %q: %w", id, rag.ErrNotFound)
	}
	return found, nil
}
