package vectorstore

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// fieldsOf takes the fields of a record out again.
func fieldsOf(t testing.TB, w *record.Writer) string {
	t.Helper()
	s, err := w.Fields()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// someSlots are live, gone and free.
func someSlots() *slots {
	s := &slots{}
	for i := range 300 {
		s.set(s.reserve(1)[0], uint32(i)*2654435761, uint64(1000+i))
	}
	for slot := uint32(0); slot < 90; slot += 3 {
		s.remove(slot)
	}
	s.reclaim()
	s.remove(200)
	return s
}

func TestSlotsRoundTrip(t *testing.T) {
	s, got := someSlots(), slots{}
	if err := got.decode(record.NewReader(fieldsOf(t, s.encode()))); err != nil {
		t.Fatal(err)
	}
	if got.n != s.n || got.gone != s.gone || len(got.free) != len(s.free) {
		t.Errorf("%d live, %d gone, %d free; want %d, %d, %d", got.n, got.gone, len(got.free), s.n, s.gone, len(s.free))
	}
	if diff := cmp.Diff(fieldsOf(t, s.encode()), fieldsOf(t, got.encode())); diff != "" {
		t.Error(diff)
	}
	for slot := range s.live.All() {
		at, ok, err := got.find(s.hashes[slot], func(at uint32) (bool, error) { return at == slot, nil })
		if err != nil || !ok || at != slot {
			t.Errorf("slot %d is found as %d (%v, %v)", slot, at, ok, err)
		}
	}
}

func TestFieldsRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	f := newFields()
	var live bitset.Set
	for slot := range uint32(300) {
		f.add(slot, randomMeta(rnd), randomValidity(rnd))
		live = live.Add(slot)
	}
	got := newFields()
	if err := got.decode(record.NewReader(fieldsOf(t, f.encode())), 300); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		filter := randomFilter(rnd, 2)
		if filter.Validate() != nil {
			continue
		}
		if diff := cmp.Diff(f.resolve(filter, live), got.resolve(filter, live)); diff != "" {
			t.Fatalf("%v: %s", filter, diff)
		}
	}
}

// FuzzSnapshotParts reads whatever comes: an error, or something that can be used.
func FuzzSnapshotParts(f *testing.F) {
	f.Add(fieldsOf(f, someSlots().encode()))
	index := newFields()
	for slot := range uint32(200) {
		index.add(slot, rag.Meta{"a": "b", "n": float64(slot), "l": []string{"x"}, "t": slot%2 == 0}, rag.Validity{})
	}
	f.Add(fieldsOf(f, index.encode()))
	f.Fuzz(func(t *testing.T, raw string) {
		var s slots
		if s.decode(record.NewReader(raw)) == nil {
			for _, slot := range s.reserve(3) {
				s.set(slot, slot, 1)
				s.remove(slot)
			}
			s.reclaim()
		}
		const n = 200
		x, live := newFields(), bitset.New(n)
		live = live.Add(n - 1)
		if x.decode(record.NewReader(raw), n) == nil {
			for name := range x.byName {
				x.resolve(rag.Or(rag.Exists(name), rag.Prefix(name, "a"), rag.Range(name, rag.Bounds{GT: 1.0})), live)
			}
			x.forget(live)
		}
		key, err := record.NewWriter(layoutVersion, 0).Finish()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := readChange(keyBytes(7), append(key, raw...)); err == nil && c.gen != 7 {
			t.Errorf("read %+v", c)
		}
	})
}

// TestSnapshotsInALinkAreRefused: what belongs to no collection is swept away there.
func TestSnapshotsInALinkAreRefused(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	victim := filepath.Join(elsewhere, "disk.snapshot")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "hnsw")); err != nil {
		t.Skip(err)
	}
	if _, err := OpenHNSW(dir, HNSWConfig{}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "hnsw is a link") {
		t.Errorf("got %v, want ErrInvalid that names the link", err)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
}
