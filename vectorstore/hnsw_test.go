package vectorstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// graphAlways has every collection walk a graph, however small.
var graphAlways = vectorstore.HNSWConfig{ExactBelow: 1}

func openHNSW(t testing.TB, dir string, c vectorstore.HNSWConfig) *vectorstore.HNSW {
	t.Helper()
	h, err := vectorstore.OpenHNSW(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func closed(t testing.TB, s interface{ Close() error }) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestHNSW(t *testing.T) {
	unquantized := graphAlways
	unquantized.Quantization = vectorstore.QuantizationNone
	for name, c := range map[string]vectorstore.HNSWConfig{"defaults": {}, "graph": graphAlways, "graph of float32": unquantized} {
		t.Run(name, func(t *testing.T) {
			ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return openHNSW(t, dir, c) },
				ragtest.Approximate(0.98), ragtest.Slow())
		})
	}
}

func TestHNSWInMemory(t *testing.T) {
	ragtest.TestVectorStore(t, func(t *testing.T, _ string) rag.VectorStore { return openHNSW(t, "", graphAlways) },
		ragtest.Approximate(0.98), ragtest.Volatile(), ragtest.Slow())
}

// snapshots are the files that hold them.
func snapshots(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "hnsw", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameAnswers compares two stores on a few questions.
func sameAnswers(t *testing.T, got, want rag.VectorStore, recs []rag.VectorRecord) {
	t.Helper()
	for i, filter := range []rag.Filter{{}, rag.Prefix(rag.FieldURI, "dir/file1"), rag.Eq("lang", "de")} {
		q := rag.VectorQuery{Vector: recs[7*i].Vector, K: 20, Filter: filter}
		a, err := got.Search(t.Context(), "c", q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Search(t.Context(), "c", q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("filter %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestFlatAndHNSWShareRecords: each opens what the other wrote, in turns and side by side.
func TestFlatAndHNSWShareRecords(t *testing.T) {
	dir := t.TempDir()
	recs := vectors(2000, 16)
	f := openFlat(t, dir)
	upsert(t, f, recs[:1000])
	closed(t, f)
	h := openHNSW(t, dir, graphAlways)
	upsert(t, h, recs[1000:1500])
	closed(t, h)
	if len(snapshots(t, dir)) != 1 {
		t.Fatalf("snapshots after closing: %v, want one", snapshots(t, dir))
	}
	f = openFlat(t, dir)
	upsert(t, f, recs[1500:])
	if err := f.Delete(t.Context(), "c", []string{recs[3].ID, recs[1200].ID}); err != nil {
		t.Fatal(err)
	}
	moved := recs[5]
	moved.Vector, moved.Meta = recs[6].Vector, rag.Meta{"lang": "de"}
	upsert(t, f, []rag.VectorRecord{moved})
	h = openHNSW(t, dir, graphAlways) // catches up
	sameAnswers(t, h, f, recs)
	if r, err := h.MeasureRecall(t.Context(), "c"); err != nil || !r.OK() || r.Records != 1998 || r.Value < 0.98 {
		t.Errorf("after catching up: %+v, %v", r, err)
	}
	upsert(t, h, []rag.VectorRecord{recs[3]})
	sameAnswers(t, f, h, recs)
	if err := f.Drop(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	closed(t, h)
	h = openHNSW(t, dir, graphAlways)
	defer closed(t, h)
	if left := snapshots(t, dir); len(left) != 0 {
		t.Errorf("snapshots of a dropped collection: %v", left)
	}
}

// TestSnapshotIsACache: whatever becomes of the file, the answers are the same.
func TestSnapshotIsACache(t *testing.T) {
	recs := vectors(1500/racetest.Slower, 16)
	for name, c := range map[string]struct {
		spoil   func(t *testing.T, path string, content []byte) []byte
		config  vectorstore.HNSWConfig
		problem bool
	}{
		"whole":          {func(_ *testing.T, _ string, b []byte) []byte { return b }, graphAlways, false},
		"gone":           {func(*testing.T, string, []byte) []byte { return nil }, graphAlways, false},
		"other settings": {func(_ *testing.T, _ string, b []byte) []byte { return b }, vectorstore.HNSWConfig{ExactBelow: 1, M: 8}, false},
		"cut short":      {func(_ *testing.T, _ string, b []byte) []byte { return b[:len(b)/2] }, graphAlways, true},
		"one bit":        {func(_ *testing.T, _ string, b []byte) []byte { b[len(b)/3] ^= 4; return b }, graphAlways, true},
		"another file":   {func(*testing.T, string, []byte) []byte { return []byte("not a snapshot") }, graphAlways, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := openHNSW(t, dir, graphAlways)
			upsert(t, h, recs)
			closed(t, h)
			path := snapshots(t, dir)[0]
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if content = c.spoil(t, path, content); content == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			h, f := openHNSW(t, dir, c.config), openFlat(t, dir)
			defer closed(t, f)
			sameAnswers(t, h, f, recs)
			r, err := h.MeasureRecall(t.Context(), "c")
			if err != nil || r.Value < 0.98 || r.OK() == c.problem {
				t.Errorf("measured %+v, %v; a problem: %v", r, err, c.problem)
			}
			if err := h.Rebuild(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
			closed(t, h)
			h = openHNSW(t, dir, c.config)
			defer closed(t, h)
			if r, err := h.Recall(t.Context(), "c"); err != nil || !r.OK() || r.Sampled == 0 {
				t.Errorf("after Rebuild, as read from the snapshot: %+v, %v", r, err)
			}
		})
	}
}

// TestManyEqualVectors: of a text that stands in hundreds of documents, those with the lowest IDs are found, wherever they
// stand in the graph.
func TestManyEqualVectors(t *testing.T) {
	recs := vectors(1000, 16)
	for i := range recs[:400] {
		recs[i].Vector, recs[i].ID = recs[0].Vector, fmt.Sprintf("%024x", 400-i)
	}
	for _, quantization := range []string{vectorstore.QuantizationNone, vectorstore.QuantizationInt8} {
		dir := t.TempDir()
		h, f := openHNSW(t, dir, vectorstore.HNSWConfig{ExactBelow: 1, Quantization: quantization}), openFlat(t, dir)
		upsert(t, h, recs)
		for _, k := range []int{1, 10, 100, 400, 500} {
			q := rag.VectorQuery{Vector: recs[0].Vector, K: k}
			if diff := cmp.Diff(search(t, f, q), search(t, h, q)); diff != "" {
				t.Errorf("%s, K %d (-exact +graph):\n%s", quantization, k, diff)
			}
		}
		closed(t, f)
		closed(t, h)
	}
}

// TestSnapshotOfAnotherHistory: a snapshot of another folder, and one of what was written after a backup that is in place
// again, are not taken for the collection's own, however many writes there were.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	recs := vectors(3000, 16)
	for i := range recs[1000:2000] {
		recs[1000+i].ID, recs[2000+i].Vector = recs[2000+i].ID, recs[1000+(i+500)%1000].Vector
	}
	dir := t.TempDir()
	f := openFlat(t, dir)
	upsert(t, f, recs[:1000])
	closed(t, f)
	backup, err := os.ReadFile(filepath.Join(dir, "rag.db"))
	if err != nil {
		t.Fatal(err)
	}
	h := openHNSW(t, dir, graphAlways)
	upsert(t, h, recs[1000:2000])
	closed(t, h)
	snapshot, err := os.ReadFile(snapshots(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rag.db"), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for dir, write := range map[string][]int{dir: {2000}, other: {0, 2000}} {
		f := openFlat(t, dir)
		for _, first := range write {
			upsert(t, f, recs[first:first+1000])
		}
		defer closed(t, f)
	}
	if err := os.MkdirAll(filepath.Join(other, "hnsw"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "hnsw", filepath.Base(snapshots(t, dir)[0])), snapshot, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"backup": dir, "another folder": other} {
		t.Run(name, func(t *testing.T) {
			h, f := openHNSW(t, dir, graphAlways), openFlat(t, dir)
			defer closed(t, f)
			defer closed(t, h)
			for _, r := range recs[2000:2010] {
				q := rag.VectorQuery{Vector: r.Vector, K: 10}
				if diff := cmp.Diff(search(t, f, q), search(t, h, q)); diff != "" {
					t.Fatalf("(-exact +graph):\n%s", diff)
				}
			}
		})
	}
}

// TestSmallChangesAreReplayed: a snapshot is not written for each change, neither when it is made nor at closing, and the
// log brings it up to date.
// TestSnapshotOfTheEngine: a store in a folder of its own takes the graphs over, and writes none.
func TestSnapshotOfTheEngine(t *testing.T) {
	recs := vectors(1500/racetest.Slower, 16)
	dir, copied, bare := t.TempDir(), t.TempDir(), t.TempDir()
	h := openHNSW(t, dir, graphAlways)
	upsert(t, h, recs)
	closed(t, h)
	p := &rag.Providers{}
	vectorstore.Register(p)
	settings, err := json.Marshal(graphAlways)
	if err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{copied: dir, bare: t.TempDir()} {
		if err := boltkv.Snapshot(dir, to); err != nil {
			t.Fatal(err)
		}
		s, err := p.VectorStores.New("hnsw", rag.Env{Dir: to, Snapshot: from}, settings)
		if err != nil {
			t.Fatal(err)
		}
		before := snapshots(t, to)
		if (len(before) == 1) != (from == dir) {
			t.Errorf("graphs: %v", before)
		}
		h = openHNSW(t, dir, graphAlways)
		sameAnswers(t, s, h, recs)
		closed(t, h)
		closed(t, s.(*vectorstore.HNSW))
		if after := snapshots(t, to); len(after) != len(before) {
			t.Errorf("graphs: %v after it was closed, before %v", after, before)
		}
	}
}

func TestSmallChangesAreReplayed(t *testing.T) {
	dir := t.TempDir()
	recs := vectors(2000, 16)
	h := openHNSW(t, dir, graphAlways)
	upsert(t, h, recs[:1998])
	closed(t, h)
	h = openHNSW(t, dir, graphAlways)
	before, err := os.Stat(snapshots(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	upsert(t, h, recs[1998:])
	if err := h.Delete(t.Context(), "c", []string{recs[7].ID}); err != nil {
		t.Fatal(err)
	}
	closed(t, h)
	if after, err := os.Stat(snapshots(t, dir)[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the snapshot was replaced for three changes (%v)", err)
	}
	h, f := openHNSW(t, dir, graphAlways), openFlat(t, dir)
	defer closed(t, f)
	defer closed(t, h)
	sameAnswers(t, h, f, recs)
	if r, err := h.MeasureRecall(t.Context(), "c"); err != nil || !r.OK() || r.Records != 1999 {
		t.Errorf("after the replay: %+v, %v", r, err)
	}
}

// TestChurn deletes and adds again, so that slots are freed and used again, and opens the store now and then.
func TestChurn(t *testing.T) {
	dir := t.TempDir()
	recs := vectors(4000/racetest.Slower, 16)
	f := openFlat(t, "")
	defer closed(t, f)
	h := openHNSW(t, dir, graphAlways)
	for _, s := range []rag.VectorStore{f, h} {
		if err := s.Upsert(t.Context(), "c", recs); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 4 {
		part := recs[round*800/racetest.Slower : (round*800+1200)/racetest.Slower]
		var ids []string
		for _, r := range part {
			ids = append(ids, r.ID)
		}
		for _, s := range []rag.VectorStore{f, h} {
			if err := s.Delete(t.Context(), "c", ids); err != nil {
				t.Fatal(err)
			}
			if err := s.Upsert(t.Context(), "c", part[round*100/racetest.Slower:]); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := h.MeasureRecall(t.Context(), "c"); err != nil || !r.OK() || r.Value < 0.98 {
			t.Errorf("round %d: %+v, %v", round, r, err)
		}
		if round%2 == 1 {
			closed(t, h)
			h = openHNSW(t, dir, graphAlways)
		}
		sameAnswers(t, h, f, recs)
	}
	closed(t, h)
}

// TestGraphIsBuiltAside: a search does not wait for a graph that has to be built, and a write completes it.
func TestGraphIsBuiltAside(t *testing.T) {
	dir := t.TempDir()
	recs := vectors(3000/racetest.Slower, 16)
	f := openFlat(t, dir)
	upsert(t, f, recs)
	h := openHNSW(t, dir, graphAlways)
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := h.Search(ctx, "c", rag.VectorQuery{Vector: recs[0].Vector, K: 5}); err != nil || len(got) != 5 || got[0].ID != recs[0].ID {
		t.Errorf("first search: %v, %v", got, err)
	}
	cancel() // which does not end the building
	if r, err := h.MeasureRecall(t.Context(), "c"); err != nil || r.Records != len(recs) || !r.OK() {
		t.Errorf("measured %+v, %v", r, err)
	}
	sameAnswers(t, h, f, recs)
	closed(t, h)
	closed(t, f)
}

func TestHNSWRefusesSettings(t *testing.T) {
	for name, c := range map[string]vectorstore.HNSWConfig{
		"m": {M: 3}, "ef_construction": {EfConstruction: 2}, "ef_construction below the default m": {EfConstruction: 5}, "ef": {Ef: -1}, "exact_below": {ExactBelow: -1},
		"workers": {Workers: -1}, "quantization": {Quantization: "int4"},
	} {
		if _, err := vectorstore.OpenHNSW("", c); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func BenchmarkHNSW(b *testing.B) {
	recs := vectors(30_000, 384)
	for _, quantization := range []string{vectorstore.QuantizationNone, vectorstore.QuantizationInt8} {
		for _, exactBelow := range []int{1, 1 << 20} {
			b.Run(fmt.Sprintf("%s/exact_below_%d", quantization, exactBelow), func(b *testing.B) {
				h := openHNSW(b, b.TempDir(), vectorstore.HNSWConfig{Quantization: quantization, ExactBelow: exactBelow})
				defer closed(b, h)
				if err := h.Upsert(b.Context(), "c", recs); err != nil {
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					if _, err := h.Search(b.Context(), "c", rag.VectorQuery{Vector: recs[i%len(recs)].Vector, K: 10}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
