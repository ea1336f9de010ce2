package embed_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed"
	"github.com/seed-d8745b77/rag/ragtest"
)

func openCache(t *testing.T, dir string, c embed.CacheConfig, log *slog.Logger) *embed.Cache {
	t.Helper()
	cache, err := embed.OpenCache(dir, c, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	})
	return cache
}

func TestCache(t *testing.T) {
	ragtest.TestEmbedCache(t, func(t *testing.T, dir string) rag.EmbedCache {
		return openCache(t, dir, embed.CacheConfig{}, nil)
	})
}

// keyed returns n keys and vectors, all different, beginning at a number.
func keyed(from, n int) (keys []rag.EmbedKey, vecs [][]float32) {
	for i := from; i < from+n; i++ {
		keys = append(keys, rag.EmbedKey{byte(i), byte(i >> 8)})
		vecs = append(vecs, []float32{float32(i), 1, 2, 3})
	}
	return keys, vecs
}

func put(t *testing.T, c *embed.Cache, from, n int) {
	t.Helper()
	keys, vecs := keyed(from, n)
	if err := c.Put(t.Context(), keys, vecs); err != nil {
		t.Fatal(err)
	}
}

// has lists which of the first n keys are there, and checks their vectors.
func has(t *testing.T, c *embed.Cache, n int) (there []int) {
	t.Helper()
	keys, vecs := keyed(0, n)
	got, err := c.Get(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v == nil {
			continue
		}
		there = append(there, i)
		if diff := cmp.Diff(vecs[i], v); diff != "" {
			t.Errorf("vector %d (-want +got):\n%s", i, diff)
		}
	}
	return there
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "embeddings", "*.vec"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestTheOldestGoFirst(t *testing.T) {
	const limit = 8 << 10
	dir := t.TempDir()
	c := openCache(t, dir, embed.CacheConfig{MaxBytes: limit}, nil)
	const n = 1000
	for i := 0; i < n; i += 10 {
		put(t, c, i, 10)
		if there := has(t, c, i+10); there[len(there)-1] != i+9 || len(there) < 10 {
			t.Fatalf("what was put last is not there: %v", there)
		}
	}
	size := int64(0)
	for _, path := range segments(t, dir) {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if size > limit || size < limit/2 {
		t.Errorf("%d bytes on disk, limit %d", size, limit)
	}
	for _, cache := range []*embed.Cache{c, openCache(t, dir, embed.CacheConfig{MaxBytes: limit}, nil)} {
		there := has(t, cache, n)
		want := make([]int, len(there))
		for i := range want {
			want[i] = n - len(there) + i
		}
		if !slices.Equal(there, want) || len(there) < 50 {
			t.Errorf("there: %v, want the newest", there)
		}
	}
}

func TestDamageIsThrownAway(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		want   int // vectors of 100 left, at most
	}{
		"cut short in a record": {func(b []byte) []byte { return b[:len(b)-7] }, 99},
		"a bit flipped":         {func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, 50},
		"another file":          {func([]byte) []byte { return []byte("something else altogether") }, 0},
		"another version":       {func(b []byte) []byte { b[8]++; return b }, 0},
		"empty":                 {func([]byte) []byte { return nil }, 0},
		"bytes appended":        {func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xff}, 100)...) }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, openCache(t, dir, embed.CacheConfig{}, nil), 0, 100)
			path := segments(t, dir)[0]
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			cache := openCache(t, dir, embed.CacheConfig{}, slog.New(slog.NewTextHandler(&log, nil)))
			if left := has(t, cache, 100); len(left) > c.want || len(left) < c.want-1 {
				t.Errorf("%d vectors are left, want %d", len(left), c.want)
			}
			if !strings.Contains(log.String(), "damaged") {
				t.Errorf("log: %q", log.String())
			}
			put(t, cache, 0, 100)
			log.Reset()
			again := openCache(t, dir, embed.CacheConfig{}, slog.New(slog.NewTextHandler(&log, nil)))
			if left := has(t, again, 100); len(left) != 100 || log.Len() > 0 {
				t.Errorf("after putting them again: %d vectors, log %q", len(left), log.String())
			}
		})
	}
}

// What is damaged while the cache is open is not given out either.
func TestDamageUnderAnOpenCache(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, embed.CacheConfig{}, nil)
	put(t, c, 0, 10)
	path := segments(t, dir)[0]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if there := has(t, c, 10); len(there) != 9 {
		t.Errorf("there: %v", there)
	}
}

func TestTwoCachesOnOneDirectory(t *testing.T) {
	dir := t.TempDir()
	a, b := openCache(t, dir, embed.CacheConfig{}, nil), openCache(t, dir, embed.CacheConfig{}, nil)
	put(t, a, 0, 5)
	has(t, b, 5) // b has read the directory now
	put(t, b, 5, 5)
	put(t, a, 10, 5)
	put(t, b, 15, 5)
	has(t, a, 20)
	has(t, b, 20)
	if there := has(t, openCache(t, dir, embed.CacheConfig{}, nil), 20); len(there) != 20 {
		t.Errorf("there: %v", there)
	}
}

func TestCacheConfig(t *testing.T) {
	if _, err := embed.OpenCache(t.TempDir(), embed.CacheConfig{MaxBytes: -1}, nil); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	c, err := rag.Default.EmbedCaches.New("file", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	keys, vecs := keyed(0, 2)
	if err := c.Put(t.Context(), keys, vecs); err != nil {
		t.Error(err)
	}
	if got, err := c.Get(t.Context(), keys); err != nil || len(got) != 2 || got[0] != nil {
		t.Errorf("without a directory: %v, %v", got, err)
	}
}

func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	c, err := embed.OpenCache(dir, embed.CacheConfig{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	keys, vecs := keyed(0, 3)
	if err := errors.Join(c.Put(f.Context(), keys, vecs), c.Close()); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "embeddings", "00000001.vec"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "embeddings"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "embeddings", "00000001.vec"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		c := openCache(t, dir, embed.CacheConfig{}, nil)
		put(t, c, 100, 1)
		if got, err := c.Get(t.Context(), keys); err != nil || len(got) != 3 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestCacheFollowsNoLink: what is damaged is cut off or removed, which must not happen to files elsewhere.
func TestCacheFollowsNoLink(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "00000001.vec")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := []rag.EmbedKey{{1}}
	file, folder := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(file, "embeddings"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(file, "embeddings", "00000001.vec")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Dir(victim), filepath.Join(folder, "embeddings")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, folder} {
		err := openCache(t, dir, embed.CacheConfig{}, nil).Put(t.Context(), keys, [][]float32{{1}})
		if err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("got %v, want an error that names the link", err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the file elsewhere holds %q, %v", text, err)
	}
}
