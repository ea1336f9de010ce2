// Package embed holds embedders over services — those that speak OpenAI's protocol, Azure OpenAI and Ollama — and the cache of
// vectors that all embedders share.
//
//	cache, err := embed.OpenCache(dir, embed.CacheConfig{}, logger)
//	eng, err := rag.Open(dir, rag.WithEmbedCache(cache))
package embed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// CacheConfig sets up a [Cache].
type CacheConfig struct {
	MaxBytes int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // size on disk, in bytes; the oldest vectors go first; 0: DefaultCacheBytes; at least 0
}

// DefaultCacheBytes is room for about 170,000 vectors of 384 dimensions.
const DefaultCacheBytes = 256 << 20

// folderName is the folder of the cache in a data directory.
const folderName = "embeddings"

// segmentsPerCache is how many files the cache fills: when it is full, the oldest file goes, and so that part of it.
const segmentsPerCache = 8

// Cache keeps vectors in files, each appended to and never changed. It reads them at its first use. What is damaged is
// thrown away, with a line in the log. It is safe for concurrent use, also several on one directory.
type Cache struct {
	dir string
	max int64
	log *slog.Logger

	mu       sync.Mutex
	loaded   bool
	closed   bool
	segments []*segment // oldest first; the last one is appended to
	index    map[rag.EmbedKey]place
}

// place is where a vector lies.
type place struct {
	segment *segment
	offset  int64
	dims    int
}

var _ rag.EmbedCache = (*Cache)(nil)

// OpenCache returns the cache of a data directory. It touches no file before its first use. log may be nil.
func OpenCache(dir string, c CacheConfig, log *slog.Logger) (*Cache, error) {
	if c.MaxBytes < 0 {
		return nil, fmt.Errorf("embedding cache: max_bytes is %d, it cannot be below 0: %w", c.MaxBytes, rag.ErrInvalid)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultCacheBytes
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Cache{dir: filepath.Join(dir, folderName), max: c.MaxBytes, log: log, index: map[rag.EmbedKey]place{}}, nil
}

// Get returns the vectors kept under keys, in order, nil where there is none.
func (c *Cache) Get(ctx context.Context, keys []rag.EmbedKey) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	vecs := make([][]float32, len(keys))
	for i, key := range keys {
		p, ok := c.index[key]
		if !ok {
			continue
		}
		v, err := p.segment.read(key, p)
		if err != nil {
			c.log.Warn("vector in the embedding cache is damaged", "file", p.segment.path, "error", err)
			delete(c.index, key)
			continue
		}
		vecs[i] = v
	}
	return vecs, nil
}

// Put keeps a vector under each key; one that is kept already stays. It is on disk when Put returns.
func (c *Cache) Put(ctx context.Context, keys []rag.EmbedKey, vectors [][]float32) error {
	if len(keys) != len(vectors) {
		return fmt.Errorf("embedding cache: %d keys for %d vectors: %w", len(keys), len(vectors), rag.ErrInvalid)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(ctx); err != nil {
		return err
	}
	var batch []byte
	fresh := map[rag.EmbedKey]place{}
	for i, key := range keys {
		if _, kept := c.index[key]; kept {
			continue
		}
		if _, twice := fresh[key]; twice {
			continue
		}
		fresh[key] = place{offset: int64(len(batch)), dims: len(vectors[i])}
		batch = appendRecord(batch, key, vectors[i])
	}
	if len(batch) == 0 {
		return nil
	}
	s, err := c.room(int64(len(batch)))
	if err != nil {
		return err
	}
	start, err := s.append(batch)
	if err != nil {
		return fmt.Errorf("embedding cache: %w", err)
	}
	for key, p := range fresh {
		c.index[key] = place{segment: s, offset: start + p.offset, dims: p.dims}
	}
	c.evict()
	return nil
}

// Close closes the files. Nothing is lost that Put has returned for.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var errs []error
	for _, s := range c.segments {
		errs = append(errs, s.file.Close())
	}
	c.segments, c.index = nil, nil
	return errors.Join(errs...)
}

// load reads what is on disk, once.
func (c *Cache) load(ctx context.Context) error {
	if c.closed {
		return fmt.Errorf("embedding cache: %w", fs.ErrClosed)
	}
	if err := ctx.Err(); err != nil || c.loaded {
		return err
	}
	if err := datafile.NoLink(c.dir); err != nil {
		return fmt.Errorf("embedding cache: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(c.dir, "*"+segmentSuffix))
	if err != nil {
		return fmt.Errorf("embedding cache: %w", err)
	}
	slices.Sort(paths) // numbers of equal width: by age
	for _, path := range paths {
		s, err := openSegment(path, func(key rag.EmbedKey, p place) { c.index[key] = p })
		if err != nil {
			c.log.Warn("embedding cache is damaged: the damaged part is thrown away", "file", path, "error", err)
		}
		if s != nil {
			c.segments = append(c.segments, s)
		}
	}
	c.loaded = true
	return nil
}

// room returns the file that the next bytes are appended to.
func (c *Cache) room(bytes int64) (*segment, error) {
	number := 1
	if n := len(c.segments); n > 0 {
		last := c.segments[n-1]
		if last.size+bytes <= c.max/segmentsPerCache {
			return last, nil
		}
		number = last.number() + 1
	}
	if err := datafile.MakeFolder(c.dir); err != nil {
		return nil, fmt.Errorf("embedding cache: %w", err)
	}
	s, err := createSegment(c.dir, number)
	if err != nil {
		return nil, fmt.Errorf("embedding cache: %w", err)
	}
	c.segments = append(c.segments, s)
	return s, nil
}

// evict removes the oldest files until the rest fits. The last one, which holds what was put just now, stays.
func (c *Cache) evict() {
	total := int64(0)
	for _, s := range c.segments {
		total += s.size
	}
	for total > c.max && len(c.segments) > 1 {
		old := c.segments[0]
		c.segments = c.segments[1:]
		total -= old.size
		for key, p := range c.index {
			if p.segment == old {
				delete(c.index, key)
			}
		}
		if err := errors.Join(old.file.Close(), os.Remove(old.path)); err != nil {
			c.log.Warn("embedding cache: an old file stays", "file", old.path, "error", err)
		}
	}
}
