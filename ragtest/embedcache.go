package ragtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestEmbedCache checks that a cache keeps the promises of [rag.EmbedCache]. open opens the cache of a directory, also
// while one that was opened before is open, as after a crash; it closes it when the test ends.
func TestEmbedCache(t *testing.T, open func(t *testing.T, dir string) rag.EmbedCache) {
	keys := []rag.EmbedKey{{1}, {2}, {3}}
	vecs := [][]float32{{1, 0, 0}, {0, 1}, {0, 0, 0.5, -2}}

	t.Run("what was put is got, in the order of the keys, nil where there is none", func(t *testing.T) {
		c := open(t, t.TempDir())
		cachePut(t, c, keys, vecs)
		got := cacheGet(t, c, []rag.EmbedKey{{3}, {9}, {1}, {3}})
		if diff := cmp.Diff([][]float32{vecs[2], nil, vecs[0], vecs[2]}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an empty cache has nothing, and nothing put is nothing", func(t *testing.T) {
		c := open(t, t.TempDir())
		cachePut(t, c, nil, nil)
		if got := cacheGet(t, c, keys); cmp.Diff([][]float32{nil, nil, nil}, got) != "" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what was put is there without a close, when it is opened again", func(t *testing.T) {
		dir := t.TempDir()
		cachePut(t, open(t, dir), keys, vecs)
		if diff := cmp.Diff(vecs, cacheGet(t, open(t, dir), keys)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("slices passed in and returned are the caller's", func(t *testing.T) {
		c := open(t, t.TempDir())
		mine := []float32{1, 2}
		cachePut(t, c, keys[:1], [][]float32{mine})
		mine[0] = 7
		cacheGet(t, c, keys[:1])[0][1] = 7
		if diff := cmp.Diff([]float32{1, 2}, cacheGet(t, c, keys[:1])[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("as many keys as vectors are asked for", func(t *testing.T) {
		if err := open(t, t.TempDir()).Put(t.Context(), keys, vecs[:1]); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
	})
	t.Run("many goroutines may use it", func(t *testing.T) {
		c := open(t, t.TempDir())
		var wg sync.WaitGroup
		for g := range 20 {
			wg.Go(func() {
				key := []rag.EmbedKey{{byte(g % 10), 1}}
				want := [][]float32{{float32(g % 10), 1}}
				if err := c.Put(t.Context(), key, want); err != nil {
					t.Error(err)
				}
				got, err := c.Get(t.Context(), key)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v, (-want +got):\n%s", err, diff)
				}
			})
		}
		wg.Wait()
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		c := open(t, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Get(ctx, keys); !errors.Is(err, context.Canceled) {
			t.Errorf("Get gave error %v", err)
		}
		if err := c.Put(ctx, keys, vecs); !errors.Is(err, context.Canceled) {
			t.Errorf("Put gave error %v", err)
		}
	})
}

func cachePut(t *testing.T, c rag.EmbedCache, keys []rag.EmbedKey, vecs [][]float32) {
	t.Helper()
	if err := c.Put(t.Context(), keys, vecs); err != nil {
		t.Fatal(err)
	}
}

func cacheGet(t *testing.T, c rag.EmbedCache, keys []rag.EmbedKey) [][]float32 {
	t.Helper()
	got, err := c.Get(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
