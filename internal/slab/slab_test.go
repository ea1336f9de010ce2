package slab_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/slab"
)

func unit(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		x := rng.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// filled returns a slab of n random vectors, and them.
func filled(t testing.TB, kind slab.Kind, dims, n int) (*slab.Slab, [][]float32) {
	t.Helper()
	s, err := slab.New(kind, dims)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	rng := rand.New(rand.NewPCG(uint64(dims), uint64(n)))
	var vectors [][]float32
	for i := range n {
		vectors = append(vectors, unit(rng, dims))
		if err := s.Set(uint32(i), vectors[i]); err != nil {
			t.Fatal(err)
		}
	}
	return s, vectors
}

var kinds = []slab.Kind{slab.Float32, slab.Int8}

func TestScores(t *testing.T) {
	for _, kind := range kinds {
		for _, dims := range []int{1, 7, 64, 100, 384} {
			const n = 150
			s, vectors := filled(t, kind, dims, n)
			within := map[slab.Kind]float64{slab.Float32: 1e-6, slab.Int8: 0.01}[kind]
			var q slab.Query
			slots, out, scanned, ofSlot := make([]uint32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range slots {
				slots[i] = uint32(i)
			}
			s.Prepare(vectors[3], &q)
			s.Scores(&q, slots, out)
			s.ScanRange(&q, 0, n, scanned)
			s.PrepareSlot(3, &q)
			s.Scores(&q, slots, ofSlot)
			for i, v := range vectors {
				var want float64
				for j, x := range v {
					want += float64(x) * float64(vectors[3][j])
				}
				if d := math.Abs(float64(out[i]) - want); !(d <= within) {
					t.Errorf("%v, %d dimensions, slot %d: score %g, want %g", kind, dims, i, out[i], want)
				}
				if scanned[i] != out[i] || ofSlot[i] != out[i] || s.Between(3, uint32(i)) != out[i] {
					t.Errorf("%v, %d dimensions, slot %d: scores %g, %g, %g and %g", kind, dims, i, out[i], scanned[i], ofSlot[i], s.Between(3, uint32(i)))
				}
				for j, x := range s.Vector(uint32(i), nil) {
					if d := math.Abs(float64(x - v[j])); !(d <= within/2) {
						t.Errorf("%v, %d dimensions, slot %d, value %d: %g, want %g", kind, dims, i, j, x, v[j])
					}
				}
			}
		}
	}
}

// A query that was set to a slot must not write there when it is used again.
func TestQueryIsReusable(t *testing.T) {
	for _, kind := range kinds {
		s, vectors := filled(t, kind, 20, 2)
		var q slab.Query
		s.Prepare(vectors[0], &q)
		s.PrepareSlot(0, &q)
		before := s.Vector(0, nil)
		s.Prepare(vectors[1], &q)
		if diff := cmp.Diff(before, s.Vector(0, nil)); diff != "" {
			t.Errorf("%v: slot 0 changed (-before +after):\n%s", kind, diff)
		}
	}
}

func TestScoresAllocate(t *testing.T) {
	for _, kind := range kinds {
		s, vectors := filled(t, kind, 100, 100)
		var q slab.Query
		s.Prepare(vectors[0], &q)
		out := make([]float32, 100)
		slots := []uint32{5, 4, 3}
		if n := testing.AllocsPerRun(10, func() {
			s.Prepare(vectors[1], &q)
			s.Scores(&q, slots, out)
			s.ScanRange(&q, 0, 100, out)
			s.Between(1, 2)
		}); n != 0 {
			t.Errorf("%v: %g allocations", kind, n)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, kind := range kinds {
		s, vectors := filled(t, kind, 100, 3)
		if err := s.Set(3, vectors[1]); err != nil {
			t.Fatal(err)
		}
		for slot, want := range []bool{false, true, false, true} {
			if got := s.Equal(1, uint32(slot)); got != want {
				t.Errorf("%v: slots 1 and %d equal: %v, want %v", kind, slot, got, want)
			}
			if got := s.Hash(1) == s.Hash(uint32(slot)); got != want {
				t.Errorf("%v: slots 1 and %d have the same hash: %v, want %v", kind, slot, got, want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, dims := range []int{-1, 0, slab.MaxDims + 1} {
		if _, err := slab.New(slab.Float32, dims); err == nil {
			t.Errorf("a slab of %d dimensions was made", dims)
		}
	}
	if _, err := slab.New(2, 3); err == nil {
		t.Error("a slab of kind 2 was made")
	}
	s, _ := filled(t, slab.Int8, 3, 0)
	if err := s.Set(0, []float32{1, 0}); err == nil {
		t.Error("a vector of 2 dimensions was taken for one of 3")
	}
	if err := s.Set(0, []float32{0, 0, 0}); err != nil {
		t.Errorf("a vector of zeros: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Pin() {
		t.Error("a closed slab can be read")
	}
}

// Readers go on while the slab grows, and Close waits for them.
func TestConcurrentReaders(t *testing.T) {
	s, err := slab.New(slab.Int8, 512)
	if err != nil {
		t.Fatal(err)
	}
	var ready atomic.Uint32
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var q slab.Query
			s.Prepare(make([]float32, 512), &q)
			out := make([]float32, 1)
			for s.Pin() {
				if n := ready.Load(); n > 0 {
					s.Scores(&q, []uint32{n - 1}, out)
				}
				s.Unpin()
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range uint32(9000) { // three pieces of memory
		if i%100 == 0 {
			if err := s.Set(i, unit(rng, 512)); err != nil {
				t.Error(err)
			}
			ready.Store(i + 1)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestFile(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{0, 1, 300} {
			s, _ := filled(t, kind, 70, n)
			var file bytes.Buffer
			wrote, err := s.WriteTo(&file)
			if err != nil || wrote != int64(file.Len()) {
				t.Fatalf("%v: wrote %d bytes of %d: %v", kind, wrote, file.Len(), err)
			}
			got, err := slab.Read(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != n || got.Kind() != kind || got.Dims() != 70 || got.Bytes() != s.Bytes() {
				t.Errorf("%v: read %d slots of %v, %d dimensions, %d bytes", kind, got.Len(), got.Kind(), got.Dims(), got.Bytes())
			}
			for i := range uint32(n) {
				if diff := cmp.Diff(s.Vector(i, nil), got.Vector(i, nil)); diff != "" {
					t.Fatalf("%v: slot %d (-want +got):\n%s", kind, i, diff)
				}
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, kind := range kinds {
		s, _ := filled(f, kind, 5, 3)
		var file bytes.Buffer
		if _, err := s.WriteTo(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
		f.Add(file.Bytes()[:20])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := slab.Read(bytes.NewReader(file))
		if err != nil {
			if !errors.Is(err, slab.ErrCorrupt) {
				t.Errorf("error of another kind: %v", err)
			}
			return
		}
		var again bytes.Buffer
		if _, err := s.WriteTo(&again); err != nil || !bytes.HasPrefix(file, again.Bytes()) {
			t.Errorf("read what would not be written so: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Each changed or missing byte is noticed.
func TestReadCorrupt(t *testing.T) {
	s, _ := filled(t, slab.Int8, 5, 3)
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	for i := range file.Len() {
		changed := bytes.Clone(file.Bytes())
		changed[i] ^= 4
		for _, content := range [][]byte{changed, file.Bytes()[:i]} {
			if _, err := slab.Read(bytes.NewReader(content)); !errors.Is(err, slab.ErrCorrupt) {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
}
