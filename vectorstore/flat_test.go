package vectorstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore"
)

func openFlat(t testing.TB, dir string) *vectorstore.Flat {
	t.Helper()
	f, err := vectorstore.OpenFlat(dir, vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFlat(t *testing.T) {
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return openFlat(t, dir) })
}

func TestFlatInMemory(t *testing.T) {
	ragtest.TestVectorStore(t, func(t *testing.T, _ string) rag.VectorStore { return openFlat(t, "") }, ragtest.Volatile())
}

// vectors are n random directions.
func vectors(n, dims int) []rag.VectorRecord {
	rnd := rand.New(rand.NewPCG(1, 2))
	recs := make([]rag.VectorRecord, n)
	for i := range recs {
		v := make([]float32, dims)
		var sum float64
		for j := range v {
			v[j] = rnd.Float32() - 0.5
			sum += float64(v[j]) * float64(v[j])
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		recs[i] = rag.VectorRecord{ID: fmt.Sprintf("%024x", i), DocID: fmt.Sprint(i / 10), Vector: v, Meta: rag.Meta{
			rag.FieldURI: fmt.Sprintf("dir/file%d.md", i/10), rag.FieldDocID: fmt.Sprintf("%024x", i/10), "lang": "en",
		}}
	}
	return recs
}

func upsert(t testing.TB, f rag.VectorStore, recs []rag.VectorRecord) {
	t.Helper()
	if err := f.Upsert(t.Context(), "c", recs); err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, f rag.VectorStore, q rag.VectorQuery) []rag.Match {
	t.Helper()
	got, err := f.Search(t.Context(), "c", q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// opened is a store that is a file's user.
type opened interface {
	rag.VectorStore
	rag.Dropper
	io.Closer
}

// TestTwoOnOneDirectory: a store sees what another one on the directory wrote, and neither undoes the other's writes.
func TestTwoOnOneDirectory(t *testing.T) {
	flat := func(dir string) opened { return openFlat(t, dir) }
	graph := func(dir string) opened { return openHNSW(t, dir, graphAlways) }
	for name, open := range map[string][2]func(string) opened{
		"flat": {flat, flat}, "hnsw": {graph, graph}, "flat and hnsw": {flat, graph}, "hnsw and flat": {graph, flat},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			twoOnOneDirectory(t, open[0](dir), open[1](dir))
		})
	}
}

func twoOnOneDirectory(t *testing.T, a, b opened) {
	recs := vectors(4, 8)
	upsert(t, a, recs[:1])
	upsert(t, b, recs[1:2])
	upsert(t, a, recs[2:3])
	if err := b.Delete(t.Context(), "c", []string{recs[0].ID}); err != nil {
		t.Fatal(err)
	}
	if err := b.Drop(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]rag.VectorStore{"first": a, "second": b} {
		if got := len(search(t, s, rag.VectorQuery{Vector: recs[3].Vector, K: 10})); got != 2 {
			t.Errorf("the %s store finds %d records, want 2", name, got)
		}
	}
	// Both at once: each finds itself overtaken now and then.
	var wg sync.WaitGroup
	more := vectors(60, 8)
	for i, s := range []rag.VectorStore{a, b} {
		wg.Go(func() {
			for j := i * 30; j < i*30+30; j++ {
				if err := s.Upsert(t.Context(), "c", more[j:j+1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for name, s := range map[string]rag.VectorStore{"first": a, "second": b} {
		if got := len(search(t, s, rag.VectorQuery{Vector: recs[3].Vector, K: 100})); got != len(more) {
			t.Errorf("the %s store finds %d records, want %d", name, got, len(more))
		}
	}
	if err := b.Drop(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if got := search(t, a, rag.VectorQuery{Vector: recs[3].Vector, K: 10}); len(got) != 0 {
		t.Errorf("the first store finds %v after the second dropped the collection", got)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestWorkersDoNotChangeTheResult(t *testing.T) {
	recs := vectors(40_000, 16)
	for i := range recs[:20_000] {
		recs[39_999-i].Vector = recs[i].Vector // every score twice
	}
	q := rag.VectorQuery{Vector: recs[7].Vector, K: 101, Filter: rag.Prefix(rag.FieldURI, "dir/file1")}
	var want []rag.Match
	for _, workers := range []int{1, 2, 3, 64} {
		f, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		upsert(t, f, recs)
		got := search(t, f, q)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != q.K {
			t.Errorf("%d workers: %d matches, differences to one worker:\n%s", workers, len(got), diff)
		}
	}
}

func TestRefusals(t *testing.T) {
	f := openFlat(t, "")
	good := vectors(1, 4)[0]
	for name, change := range map[string]func(*rag.VectorRecord){
		"no ID":          func(r *rag.VectorRecord) { r.ID = "" },
		"no vector":      func(r *rag.VectorRecord) { r.Vector = nil },
		"odd metadata":   func(r *rag.VectorRecord) { r.Meta = rag.Meta{"k": 1} },
		"empty metadata": func(r *rag.VectorRecord) { r.Meta = rag.Meta{"k": nil} },
	} {
		bad := good
		change(&bad)
		if err := f.Upsert(t.Context(), "c", []rag.VectorRecord{good, bad}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	for _, name := range []string{"", "a\nb"} {
		if err := f.Upsert(t.Context(), name, []rag.VectorRecord{good}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("collection %q: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{Workers: -1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("workers below 0: %v, want ErrInvalid", err)
	}
}

// TestDamagedVectorIsInvalid flips a bit of a stored vector, which bbolt cannot notice.
func TestDamagedVectorIsInvalid(t *testing.T) {
	dir := t.TempDir()
	f := openFlat(t, dir)
	recs := vectors(10, 8)
	upsert(t, f, recs)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "rag.db")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	record := bytes.LastIndex(file, []byte(recs[4].ID)) // verbatim in the record
	file[record+60] ^= 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f = openFlat(t, dir)
	defer f.Close()
	if _, err := f.Search(t.Context(), "c", rag.VectorQuery{Vector: recs[0].Vector, K: 1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("search over a damaged record: %v, want ErrInvalid", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !slices.Equal(after, file) {
		t.Errorf("the damaged file was changed (%v)", err)
	}
}

func TestRegistered(t *testing.T) {
	v, err := rag.Default.VectorStores.New("flat", rag.Env{Dir: t.TempDir()}, []byte(`{"workers": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.(*vectorstore.Flat).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := rag.Default.VectorStores.New("flat", rag.Env{}, []byte(`{"worker": 1}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("unknown setting: %v, want ErrInvalid", err)
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		recs := vectors(n, 384)
		for name, filter := range map[string]rag.Filter{"all": {}, "filtered": rag.Prefix(rag.FieldURI, "dir/file1")} {
			b.Run(fmt.Sprintf("%dx384/%s", n, name), func(b *testing.B) {
				f, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				upsert(b, f, recs)
				q := rag.VectorQuery{Vector: recs[1].Vector, K: 100, Filter: filter}
				for b.Loop() {
					search(b, f, q)
				}
			})
		}
	}
}

// BenchmarkLoad measures the first search after opening.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	f := openFlat(b, dir)
	recs := vectors(10_000, 384)
	upsert(b, f, recs)
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f := openFlat(b, dir)
		search(b, f, rag.VectorQuery{Vector: recs[1].Vector, K: 10})
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
