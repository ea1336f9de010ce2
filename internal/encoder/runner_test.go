package encoder

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/simd"
)

func TestEmbedRefusesBadSequences(t *testing.T) {
	r := NewRunner(tinyModel(t, int8s, simd.Fastest()), 1)
	for name, ids := range map[string][]int32{
		"empty":         {},
		"too long":      sequence(tinyConfig.Positions+1, 0),
		"negative id":   {1, -1},
		"id too large":  {int32(tinyConfig.Vocabulary)},
		"id far beyond": {1 << 30},
	} {
		if _, err := r.Embed(t.Context(), [][]int32{{1}, ids}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEmbedNothing(t *testing.T) {
	got, err := NewRunner(tinyModel(t, int8s, simd.Fastest()), 2).Embed(t.Context(), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestEmbedCancelled(t *testing.T) {
	r := NewRunner(tinyModel(t, int8s, simd.Fastest()), 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Embed(ctx, [][]int32{{1}, {2}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	if _, err := r.Embed(t.Context(), [][]int32{{1}, {2}}); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

// TestEmbedWaitsForAThread takes the only thread away: a call waits for it until its context ends.
func TestEmbedWaitsForAThread(t *testing.T) {
	r := NewRunner(tinyModel(t, int8s, simd.Fastest()), 1)
	taken := <-r.free
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Embed(ctx, [][]int32{{1}})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	r.free <- taken
}

func TestPacks(t *testing.T) {
	pairs := func(lengths ...int) []Pair {
		var out []Pair
		for _, n := range lengths {
			out = append(out, Pair{IDs: make([]int32, n)})
		}
		return out
	}
	for name, c := range map[string]struct {
		pairs []Pair
		want  [][]int
	}{
		"none":               {nil, nil},
		"long ones alone":    {pairs(packTokens, 2*packTokens, packTokens), [][]int{{1}, {0}, {2}}},
		"short ones packed":  {pairs(packTokens, 40, 60, packTokens, 20, 40), [][]int{{0}, {3}, {2, 1}, {5, 4}}},
		"some for each":      {pairs(10, 10, 10, 10), [][]int{{0, 1}, {2, 3}}},
		"one for one thread": {pairs(10), [][]int{{0}}},
	} {
		got := NewRunner(&Model{}, 2).packs(c.pairs)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestConcurrentCallsGiveTheSameVectors(t *testing.T) {
	r := NewRunner(tinyModel(t, int8s, simd.Fastest()), 2)
	batch := [][]int32{sequence(3, 1), sequence(20, 2), sequence(11, 3)}
	want, err := r.Embed(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := r.Embed(t.Context(), batch)
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// builtin is the weights file of the built-in model.
func builtin(t testing.TB) []byte {
	t.Helper()
	file, err := os.ReadFile("../../embed/local/model/weights.bin")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func BenchmarkLoad(b *testing.B) {
	file := builtin(b)
	for b.Loop() {
		if _, err := Load(file); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmbed(b *testing.B) {
	const texts = 16
	file := builtin(b)
	for _, k := range []simd.Kernels{simd.Fastest(), simd.Portable()} {
		m, err := load(file, k)
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			for _, tokens := range []int{12, 128, 256} {
				name := k.Name + "/threads=" + strconv.Itoa(threads) + "/tokens=" + strconv.Itoa(tokens)
				b.Run(name, func(b *testing.B) {
					batch := make([][]int32, texts)
					for i := range batch {
						for j := range tokens {
							batch[i] = append(batch[i], int32(1000+(i*37+j*101)%20000))
						}
					}
					r := NewRunner(m, threads)
					for b.Loop() {
						if _, err := r.Embed(b.Context(), batch); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(texts*float64(b.N)/b.Elapsed().Seconds(), "texts/s")
				})
			}
		}
	}
}
