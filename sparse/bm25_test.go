package sparse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
)

func TestConformance(t *testing.T) {
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return openDir(t, dir) })
}

func TestConformanceInMemory(t *testing.T) {
	ragtest.TestSparseIndex(t, func(t *testing.T, _ string) rag.SparseIndex { return openMemory(t) }, ragtest.Volatile())
}

func openDir(t testing.TB, dir string) *sparse.BM25 {
	t.Helper()
	x, err := sparse.OpenBM25(dir, sparse.BM25Config{K1: 1.2, B: 0.75})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func upsert(t testing.TB, x *sparse.BM25, recs ...rag.TextRecord) {
	t.Helper()
	if err := x.Upsert(t.Context(), "c", recs); err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, x *sparse.BM25, query string) []rag.Match {
	t.Helper()
	got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: query, K: 10})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func ids(matches []rag.Match) []string {
	var list []string
	for _, m := range matches {
		list = append(list, m.ID)
	}
	return list
}

// TestScore computes one score by hand.
func TestScore(t *testing.T) {
	x := openMemory(t)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "pilot boat pilot"}, rag.TextRecord{ID: "b", Text: "the boat"}, rag.TextRecord{ID: "c", Text: "wall chart rope lamp ferry"})
	const n, df, tf, length, average = 3, 1, 2, 3, 9.0 / 3
	want := math.Log(1+(n-df+0.5)/(df+0.5)) * tf / (tf + 1.2*(1-0.75+0.75*length/average))
	got := search(t, x, "pilots")
	if len(got) != 1 || got[0].ID != "a" || math.Abs(got[0].Score-want) > 1e-12 {
		t.Errorf("got %v, want a with %v", got, want)
	}
}

func TestLanguages(t *testing.T) {
	x := openMemory(t)
	upsert(t, x,
		rag.TextRecord{ID: "en", Text: "Employees are entitled to parental leave.", Language: "en"},
		rag.TextRecord{ID: "fr", Text: "Les salariés ont droit à des congés payés et à des jours de repos.", Language: "fr"},
		rag.TextRecord{ID: "fr2", Text: "Le règlement précise quand les absences doivent être planifiées et par qui."}, // told by its words
		rag.TextRecord{ID: "de", Text: "Die Verträge werden jährlich verlängert.", Language: "de"},
		rag.TextRecord{ID: "zh", Text: "员工每年有十五天年假。", Language: "zh"},
		rag.TextRecord{ID: "code", Text: "Raise `CrossEntropyLoss` in v1.2.3 with form HR-LV-26.", Language: "en"},
	)
	for query, want := range map[string]string{
		"entitlement parental": "en", "congé": "fr", "conges payes": "fr", "planifié": "fr2", "Vertrag": "de",
		"年假": "zh", "假": "zh", "cross_entropy_loss": "code", "1.2.3": "code", "v1.2.3": "code", "HR-LV-26": "code", "entropy": "code",
	} {
		if got := search(t, x, query); len(got) == 0 || got[0].ID != want {
			t.Errorf("%q: got %v, want %s first", query, got, want)
		}
	}
}

func TestUpsertRefuses(t *testing.T) {
	x := openMemory(t)
	good := rag.TextRecord{ID: "a", Text: "harbour"}
	for name, recs := range map[string][]rag.TextRecord{
		"an empty ID": {good, {Text: "harbour"}},
		"metadata":    {good, {ID: "b", Text: "harbour", Meta: rag.Meta{"m": map[string]int{}}}},
	} {
		if err := x.Upsert(t.Context(), "c", recs); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
		if got := search(t, x, "harbour"); len(got) > 0 {
			t.Errorf("%s: something of the call was written: %v", name, got)
		}
	}
	for _, name := range []string{"", "a\nb"} {
		if err := x.Upsert(t.Context(), name, []rag.TextRecord{good}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("collection %q: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestLaterRecordOfOneCallStays(t *testing.T) {
	x := openMemory(t)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour"}, rag.TextRecord{ID: "a", Text: "mountain"})
	if h, m := search(t, x, "harbour"), search(t, x, "mountain"); len(h) != 0 || len(m) != 1 {
		t.Errorf("got %v for the earlier, %v for the later", h, m)
	}
}

func TestSettings(t *testing.T) {
	var p rag.Providers
	sparse.Register(&p)
	if _, err := p.SparseIndexes.New("bm25", rag.Env{}, json.RawMessage(`{"k1": 0.9, "b": 0.4}`)); err != nil {
		t.Error(err)
	}
	for _, s := range []string{`{"k1": -1}`, `{"b": 1.5}`, `{"b": -0.1}`, `{"k2": 1}`, `{"fields": {"title": -1}}`, `{"fields": {"title": 0.1}}`, `{"fields": {"headings": 17}}`} {
		if x, err := p.SparseIndexes.New("bm25", rag.Env{}, json.RawMessage(s)); !errors.Is(err, rag.ErrInvalid) || x != nil {
			t.Errorf("%s: got %v, %v, want nil and ErrInvalid", s, x, err)
		}
	}
	if got, want := openMemory(t).Fingerprint(), "bm25/auto/v2"; got != want {
		t.Errorf("fingerprint %q, want %q", got, want)
	}
}

// TestTwoHandles checks that a handle sees what another one on the same folder wrote.
func TestTwoHandles(t *testing.T) {
	dir := t.TempDir()
	a, b := openDir(t, dir), openDir(t, dir)
	defer a.Close()
	defer b.Close()
	upsert(t, a, rag.TextRecord{ID: "1", Text: "harbour"})
	for _, step := range []struct {
		do   func() error
		want []string
	}{
		{func() error { return nil }, []string{"1"}},
		{func() error { return b.Upsert(t.Context(), "c", []rag.TextRecord{{ID: "2", Text: "harbour"}}) }, []string{"1", "2"}},
		{func() error { return a.Delete(t.Context(), "c", []string{"1"}) }, []string{"2"}},
		{func() error { return b.Drop(t.Context(), "c") }, nil},
		{func() error { return a.Upsert(t.Context(), "c", []rag.TextRecord{{ID: "3", Text: "harbour"}}) }, []string{"3"}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for _, x := range []*sparse.BM25{a, b, a} {
			if got := ids(search(t, x, "harbour")); !slices.Equal(got, step.want) {
				t.Errorf("got %v, want %v", got, step.want)
			}
		}
	}
}

// TestReopenAfterMerges writes enough single records for several merges and large values.
func TestReopenAfterMerges(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	for i := range 100 {
		upsert(t, x, rag.TextRecord{ID: string(rune('A' + i)), Text: "harbour wall", Meta: rag.Meta{"blob": string(bytes.Repeat([]byte{'x'}, 40_000))}})
	}
	want := search(t, x, "harbour")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openDir(t, dir)
	defer x.Close()
	if diff := cmp.Diff(want, search(t, x, "harbour")); diff != "" {
		t.Errorf("after opening again (-want +got):\n%s", diff)
	}
}

func TestOtherAnalyzer(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour"})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	replaceManifest(t, dir, manifestOf(t, "auto/v1"))
	x = openDir(t, dir)
	defer x.Close()
	if _, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 1}); !errors.Is(err, rag.ErrFingerprint) {
		t.Errorf("search: got %v, want ErrFingerprint", err)
	}
	if err := x.Drop(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour"})
	if got := search(t, x, "harbour"); len(got) != 1 {
		t.Errorf("after dropping: got %v, want a", got)
	}
}

func TestDamage(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour"})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	replaceManifest(t, dir, []byte{1, 2, 3, 4, 5, 6})
	before := readFile(t, dir)
	x = openDir(t, dir)
	if _, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("search: got %v, want ErrInvalid", err)
	}
	if err := x.Upsert(t.Context(), "c", []rag.TextRecord{{ID: "b", Text: "wall"}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("upsert: got %v, want ErrInvalid", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, readFile(t, dir)) {
		t.Error("the damaged file was changed")
	}
}

func readFile(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// manifestOf returns an empty manifest in the layout of docs/formats.md.
func manifestOf(t *testing.T, analyzer string) []byte {
	t.Helper()
	w := record.NewWriter(1, 64)
	w.String(analyzer)
	w.Uint(1)
	w.Len(0, false)
	b, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func replaceManifest(t *testing.T, dir string, value []byte) {
	t.Helper()
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("sparse")).Bucket([]byte("c")).Put([]byte("m"), value)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestFilterOnInstants checks that validity survives storage to the nanosecond and in another zone.
func TestFilterOnInstants(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	from := time.Date(2026, 3, 1, 0, 0, 0, 1, time.FixedZone("", 3600))
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour", Validity: rag.Validity{From: from, Until: from.Add(1), Stated: true}})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openDir(t, dir)
	defer x.Close()
	for at, want := range map[time.Time]int{from: 1, from.UTC(): 1, from.Add(-1): 0, from.Add(1): 0} {
		got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 1, Filter: rag.ValidAt(at)})
		if err != nil || len(got) != want {
			t.Errorf("at %v: got %v, %v, want %d", at, got, err, want)
		}
	}
}
