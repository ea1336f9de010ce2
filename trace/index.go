package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

const (
	// mostEntries bounds what an index holds: about 900 bytes a trace.
	mostEntries = 50_000
	// headBytes tell one file from another: the ID of its first trace stands in them.
	headBytes = 128
	// readBytes is the buffer that files are read with: longer than nearly every line.
	readBytes = 1 << 20
)

// Index reads the traces that [JSONL] sinks, also of other processes, write below a directory. Each call first reads
// what was written since the last one, and nothing twice. It holds no file open. The newest 50,000 traces are listed;
// All yields older ones too. A directory that does not exist has no traces. Lines that are no trace are skipped: a
// process died while it wrote them.
type Index struct {
	dir  string
	most int

	mu    sync.Mutex // guards what follows
	files []*file    // oldest first
	names interner
}

var _ Reader = (*Index)(nil)

// file is a file of traces as far as it was read.
type file struct {
	name    string
	head    []byte // its beginning, when it was first seen
	offset  int64  // of the first byte not read
	entries []entry
}

// NewIndex returns an index over dir, which it does not touch yet.
func NewIndex(dir string) *Index { return &Index{dir: dir, most: mostEntries} }

// List is that of [Reader].
func (x *Index) List(ctx context.Context, q Query) (Page, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return Page{}, err
	}
	return list(x.newest(), q)
}

// Stats is that of [Reader].
func (x *Index) Stats(ctx context.Context, q Query, buckets int) ([]Bucket, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return nil, err
	}
	return stats(x.newest(), q, buckets)
}

// Get is that of [Reader].
func (x *Index) Get(ctx context.Context, id string) (rag.Trace, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.get(ctx, id)
	if errors.Is(err, errMoved) {
		t, err = x.get(ctx, id)
	}
	return t, err
}

// errMoved says that a line is no longer where it was: its file was renamed or removed just now.
var errMoved = errors.New("the file of the trace has just changed: try again")

func (x *Index) get(ctx context.Context, id string) (t rag.Trace, err error) {
	if err := x.refresh(ctx); err != nil {
		return t, err
	}
	e, err := find(x.newest(), id)
	if err != nil {
		return t, err
	}
	h, err := datafile.Open(filepath.Join(x.dir, e.file.name))
	if err != nil {
		return t, errMoved
	}
	defer h.Close()
	text := make([]byte, e.length)
	if _, err := h.ReadAt(text, e.offset); err != nil {
		return t, errMoved
	}
	if json.Unmarshal(text, &t) != nil || t.ID != e.ID {
		return rag.Trace{}, errMoved
	}
	return t, nil
}

// newest yields the entries, newest first.
func (x *Index) newest() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, f := range slices.Backward(x.files) {
			for i := len(f.entries) - 1; i >= 0; i-- {
				if !yield(&f.entries[i]) {
					return
				}
			}
		}
	}
}

// refresh reads what is new. The caller holds the lock.
func (x *Index) refresh(ctx context.Context) error {
	names, err := fileNames(x.dir)
	if err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	var files []*file
	total := 0
	for _, name := range slices.Backward(names) {
		if total >= x.most {
			break // what is older is not listed
		}
		f, err := x.read(ctx, name)
		if f != nil {
			files = append(files, f)
			total += len(f.entries)
		}
		if err != nil {
			x.remember(files)
			return fmt.Errorf("read traces: %w", err)
		}
	}
	slices.Reverse(files)
	if spare := total - x.most; spare > x.most/10 { // not one at a time
		f := files[0]
		f.entries = slices.Clone(f.entries[min(spare, len(f.entries)):])
	}
	x.files = files
	return nil
}

// remember keeps files as far as they were read, so that who gives up on many traces finds them read in part the next time.
func (x *Index) remember(files []*file) {
	for _, f := range files {
		if !slices.Contains(x.files, f) {
			x.files = append(x.files, f)
		}
	}
}

// read returns a file with what has been added to it, with an error as much as was read; nil if it is gone or empty.
func (x *Index) read(ctx context.Context, name string) (*file, error) {
	h, err := datafile.Open(filepath.Join(x.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // rotated or removed just now
	}
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, headBytes)
	n, err := h.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	f := x.known(head[:n], info.Size())
	f.name = name
	if info.Size() == f.offset {
		return f, nil
	}
	return f, x.follow(ctx, f, h)
}

// known returns the file that begins so, under whatever name it was seen, or a new one.
func (x *Index) known(head []byte, size int64) *file {
	for _, f := range x.files {
		if bytes.HasPrefix(head, f.head) && size >= f.offset {
			return f
		}
	}
	return &file{head: head}
}

// follow reads the whole lines behind the offset.
func (x *Index) follow(ctx context.Context, f *file, h *os.File) error {
	if _, err := h.Seek(f.offset, io.SeekStart); err != nil {
		return err
	}
	for text, err := range lines(h) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		at := f.offset
		f.offset += int64(len(text))
		if e, ok := summarize(text, &x.names); ok {
			e.file, e.offset = f, at
			f.entries = append(f.entries, e)
		}
	}
	return nil
}

// lines yields the lines of a file with their ends; a last one without is still being written. A line is valid until the
// next.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, readBytes)
		var long []byte
		for {
			text, err := in.ReadSlice('\n')
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				long = append(long, text...)
				continue
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case len(long) > 0:
				text = append(long, text...)
				long = nil
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}

// All yields every trace on disk, oldest file first and in the order of writing, those that were there when it is
// ranged over and those that are written meanwhile.
func (x *Index) All() iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		names, err := fileNames(x.dir)
		if err != nil {
			yield(rag.Trace{}, fmt.Errorf("read traces: %w", err))
			return
		}
		for _, name := range names {
			more, err := yieldFile(filepath.Join(x.dir, name), yield)
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

// yieldFile yields the traces of one file and reports whether the consumer wants more. A file that is gone, because it
// was just rotated or removed, has none.
func yieldFile(path string, yield func(rag.Trace, error) bool) (bool, error) {
	f, err := datafile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	for text, err := range lines(f) {
		if err != nil {
			return false, err
		}
		var t rag.Trace
		if json.Unmarshal(text, &t) == nil && t.ID != "" && !yield(t, nil) {
			return false, nil
		}
	}
	return true, nil
}

// fileNames lists the files of traces below dir, oldest first; the one that is written to is last. None if there is no
// such directory.
func fileNames(dir string) ([]string, error) {
	old, err := oldFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return append(old, fileName), err
}

// oldFiles lists the names of the full files below dir, oldest first.
func oldFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match(oldPattern, e.Name()); ok && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
