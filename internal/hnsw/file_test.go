package hnsw_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

func save(t testing.TB, g *hnsw.Graph) []byte {
	t.Helper()
	var file bytes.Buffer
	n, err := g.WriteTo(&file)
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("wrote %d bytes of %d: %v", n, file.Len(), err)
	}
	return file.Bytes()
}

// changed returns a graph with live, dead and free slots, and equal vectors.
func changed(t testing.TB, n int, c hnsw.Config) (*slab.Slab, *hnsw.Graph, [][]float32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, 32))
	all := clustered(rng, n, 12)
	for i := range n / 10 {
		all[i] = all[n/2]
	}
	s := fill(t, slab.Float32, all)
	g := graph(t, s, c)
	add(t, g, upTo(0, n*3/4))
	g.Delete(upTo(n/20, n/5))
	if _, err := g.Consolidate(t.Context()); err != nil {
		t.Fatal(err)
	}
	add(t, g, upTo(n*3/4, n))
	g.Delete(upTo(n/3, n/2))
	return s, g, all
}

func TestFile(t *testing.T) {
	const n = 1000
	c := hnsw.Config{M: 5, EfConstruction: 50}
	s, g, all := changed(t, n, c)
	file := save(t, g)
	got, err := hnsw.Read(bytes.NewReader(file), s, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Close() })
	if got.Len() != g.Len() || got.Dead() != g.Dead() || got.Bytes() != g.Bytes() {
		t.Errorf("read %d live, %d dead, %d bytes, want %d, %d, %d", got.Len(), got.Dead(), got.Bytes(), g.Len(), g.Dead(), g.Bytes())
	}
	healthy(t, got)
	if !bytes.Equal(save(t, got), file) {
		t.Error("what was read is written differently")
	}
	for _, v := range all[:50] {
		r := hnsw.Request{K: 20}
		if diff := cmp.Diff(search(t, s, g, v, r), search(t, s, got, v, r)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	// Both go on alike.
	freed, err := got.Consolidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add(t, got, freed)
	healthy(t, got)
	if live := upTo(0, n); got.Len() != n-(n/5-n/20) {
		t.Errorf("%d live of %d", got.Len(), len(live))
	}
}

func TestReadOfAnotherKind(t *testing.T) {
	c := hnsw.Config{M: 5, Seed: 3}
	s, g, all := changed(t, 100, c)
	file := save(t, g)
	for _, other := range []hnsw.Config{{M: 6, Seed: 3}, {M: 5, Seed: 4}} {
		if _, err := hnsw.Read(bytes.NewReader(file), s, other); err == nil {
			t.Errorf("read for %+v", other)
		}
	}
	if _, err := hnsw.Read(bytes.NewReader(file), fill(t, slab.Float32, all[:99]), c); err == nil {
		t.Error("read over too few vectors")
	}
}

// Each changed or missing byte is noticed.
func TestReadCorrupt(t *testing.T) {
	c := hnsw.Config{M: 5}
	s, g, _ := changed(t, 40, c)
	file := save(t, g)
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 4
		for _, content := range [][]byte{bad, file[:i]} {
			if got, err := hnsw.Read(bytes.NewReader(content), s, c); err == nil {
				t.Errorf("byte %d: read %d slots", i, got.Len())
			}
		}
	}
}

// Whatever a file says, even with the right checksum, reading it ends with an error or a graph that can be used.
func FuzzRead(f *testing.F) {
	c := hnsw.Config{M: 4}
	s, g, all := changed(f, 20, c)
	file := save(f, g)
	f.Add(file[:len(file)-4])
	for range 3 {
		f.Add(slices.Concat(file[:len(file)/2], file[len(file)/3:]))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		sum := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
		got, err := hnsw.Read(bytes.NewReader(binary.NativeEndian.AppendUint32(content, sum)), s, c)
		if err != nil {
			return
		}
		defer got.Close()
		if r := got.Check(); len(r.Broken) > 0 {
			t.Errorf("read a broken graph: %q", r.Broken)
		}
		for _, v := range all {
			search(t, s, got, v, hnsw.Request{K: 30})
		}
		free := slices.DeleteFunc(upTo(0, len(all)), got.Has)
		if err := got.Add(t.Context(), free); err != nil && got.Dead() == 0 {
			t.Error(err)
		}
		got.Delete(upTo(0, 7))
		if _, err := got.Consolidate(t.Context()); err != nil && !errors.Is(err, hnsw.ErrClosed) {
			t.Error(err)
		}
		if r := got.Check(); len(r.Broken) > 0 {
			t.Errorf("broke: %q", r.Broken)
		}
	})
}
