package rag

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// besideFS is [Source] Beside for a file of a file system: name is relative to the file's folder, or with a slash before
// it to the top. What is no regular file, begins with a dot or is reached over a link is not opened, as for sources;
// os.Root, which goes no link's way out, follows those that stay inside.
func besideFS(fsys fs.FS, file, name string) (io.ReadCloser, error) {
	p := path.Join(path.Dir(file), name)
	if top, ok := strings.CutPrefix(name, "/"); ok {
		p = path.Clean(top)
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return nil, fmt.Errorf("it lies outside the folder that is read: %w", ErrInvalid)
	}
	if strings.HasPrefix(p, ".") || strings.Contains(p, "/.") {
		return nil, fmt.Errorf("its name, or that of its folder, begins with a dot: %w", ErrInvalid)
	}
	if err := noLink(fsys, p); err != nil {
		return nil, err
	}
	info, err := fs.Stat(fsys, p) // before it is opened: opening a pipe waits for who writes into it
	if err != nil {
		return nil, readable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file: %w", ErrInvalid)
	}
	f, err := fsys.Open(p)
	if err != nil {
		return nil, readable(err)
	}
	return f, nil
}

// noLink reports a path that leads over a symbolic link, where the file system can tell.
func noLink(fsys fs.FS, p string) error {
	links, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := links.Lstat(p[:i])
		if err != nil {
			return readable(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("links are not followed here: %w", ErrUnsupported)
		}
	}
	return nil
}

// besideFile is [Source] Beside for a single file: what lies in its folder or below it can be opened.
func besideFile(file, name string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, readable(err)
	}
	defer root.Close() // the file that was opened stays open
	return besideFS(rootFS{root}, filepath.Base(file), name)
}

// partReader gives a loader what lies beside its source, within the limits of an ingest, and notes what it asked for.
type partReader struct {
	open   func(ctx context.Context, name string) (io.ReadCloser, error) // nil: there is nothing
	limits IngestConfig

	mu    sync.Mutex
	parts map[string][32]byte
	full  bool // more was asked for than there may be
}

// Open is what a loader gets as [Source] Beside.
func (r *partReader) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if !r.note(name, [32]byte{}) {
		return nil, fmt.Errorf("the most that is read beside a source is %d files (ingest.max_images): %w", r.limits.MaxImages, ErrInvalid)
	}
	data, err := r.read(ctx, name)
	if err != nil {
		return nil, err
	}
	r.note(name, sha256Sum(data))
	return io.NopCloser(bytes.NewReader(data)), nil
}

// note keeps the digest of a part, unless there are too many.
func (r *partReader) note(name string, digest [32]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.parts[name]; !known && len(r.parts) >= r.limits.MaxImages {
		r.full = true
		return false
	}
	if r.parts == nil {
		r.parts = map[string][32]byte{}
	}
	r.parts[name] = digest
	return true
}

func (r *partReader) read(ctx context.Context, name string) ([]byte, error) {
	if r.open == nil {
		return nil, fmt.Errorf("there is nothing beside the source: %w", ErrNotFound)
	}
	f, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing to lose
	return r.limits.readAll(untilDone{ctx, f}, 0)
}

// list returns what was asked for, in the order of the names; nil for nothing.
func (r *partReader) list() []Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []Part
	for name, digest := range r.parts {
		parts = append(parts, Part{name, digest})
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Name, b.Name) })
	return parts
}

// now returns the parts with the digests they have now.
func (r *partReader) now(ctx context.Context, parts []Part) ([]Part, error) {
	now := slices.Clone(parts)
	for i, p := range parts {
		data, err := r.read(ctx, p.Name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		now[i].Digest = [32]byte{}
		if err == nil {
			now[i].Digest = sha256Sum(data)
		}
	}
	return now, nil
}

// partChange names the first part that differs, or says that there are others.
func partChange(was, now []Part) string {
	const changed = "picture changed"
	for _, p := range was {
		if !slices.Contains(now, p) {
			return changed + ": " + p.Name
		}
	}
	return changed
}

// untilDone reads until ctx is done, so that a source that comes in drops ends with its time.
type untilDone struct {
	ctx context.Context //nolint:containedctx // lives as long as one reading
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// readAll reads a source or what lies beside it; size is how many bytes it should have, 0 if that is not known.
func (c *IngestConfig) readAll(r io.Reader, size int64) ([]byte, error) {
	if size > c.MaxSourceBytes {
		return nil, c.tooLarge()
	}
	var buf bytes.Buffer
	if size > 0 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	n, err := io.Copy(&buf, io.LimitReader(r, c.MaxSourceBytes+1))
	if err != nil {
		return nil, err
	}
	if n > c.MaxSourceBytes {
		return nil, c.tooLarge()
	}
	return buf.Bytes(), nil
}

func (c *IngestConfig) tooLarge() error {
	size := fmt.Sprintf("%d MiB", c.MaxSourceBytes>>20)
	if c.MaxSourceBytes < 1<<20 {
		size = fmt.Sprintf("%d bytes", c.MaxSourceBytes)
	}
	return fmt.Errorf("larger than %s: raise ingest.max_source_bytes or cut it into parts: %w", size, ErrInvalid)
}
