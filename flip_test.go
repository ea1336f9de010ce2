package rag_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

// TestAFlippedBitIsFoundOrHarmsNothing flips single bits of a data folder's file: texts, pictures, vectors, words, the
// ledger, and what holds them together. Opening or verify finds it, or all is as before. What an index has lost, a repair
// makes again.
func TestAFlippedBitIsFoundOrHarmsNothing(t *testing.T) {
	racetest.Skip(t)
	unsynced(t)
	o, dir, s := newOracle(t), t.TempDir(), newChange(farPapers).before
	eng, err := shelfEngine(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingestShelf(t.Context(), eng, "", s); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Compact(t.Context()); err != nil { // fewer bytes that nobody reads
		t.Fatal(err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		t.Fatal(err)
	}
	want := o.shelf("default", s)
	rnd := rand.New(rand.NewPCG(3, 9))
	outcomes := map[string]int{}
	for range 300 {
		at, bit := rnd.IntN(len(good)), rnd.IntN(8)
		t.Run(fmt.Sprintf("byte %d bit %d", at, bit), func(t *testing.T) {
			bad := append([]byte{}, good...)
			bad[at] ^= 1 << bit
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, boltkv.FileName), bad, 0o600); err != nil {
				t.Fatal(err)
			}
			outcomes[flipped(t, dir, want)]++
		})
	}
	t.Logf("%v", outcomes)
	for _, what := range []string{"refused", "harmless", "repaired", "mended"} {
		if outcomes[what] == 0 {
			t.Errorf("no flip was %s: the test shows little", what)
		}
	}
}

// flipped opens a damaged folder and tells what became of it.
func flipped(t *testing.T, dir string, want map[string]held) string {
	t.Helper()
	eng, err := shelfEngine(dir)
	if errors.Is(err, rag.ErrInvalid) {
		return "refused"
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}()
	rep, err := eng.Verify(t.Context(), "")
	switch {
	case errors.Is(err, rag.ErrInvalid), errors.Is(err, rag.ErrNotFound): // the collection's name has changed
		return "refused"
	case err != nil:
		t.Fatal(err)
	case rep.OK:
		same(t, "documents", want, holds(t, eng, ""))
		findable(t, eng, want, false)
		return "harmless"
	case !rep.Mendable():
		again, err := eng.Repair(t.Context(), "")
		if errors.Is(err, rag.ErrInvalid) || errors.Is(err, rag.ErrFingerprint) {
			return "reported"
		}
		if err != nil || !again.Repaired || !again.After.OK {
			t.Fatalf("a repair of the catalog: %+v, %v", again, err)
		}
		return "mended"
	}
	repairShelf(t, eng, "")
	same(t, "documents", want, holds(t, eng, ""))
	findable(t, eng, want, false)
	return "repaired"
}
