package rag_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/fault"
	"github.com/seed-d8745b77/rag/sparse"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// errStore is what a store answers that is out of order.
var errStore = errors.New("connection reset by peer")

// Ways in which a store's call goes wrong.
const (
	beforeIt = "before"   // nothing is done
	halfOfIt = "half"     // half of it is done, and an error reported
	afterIt  = "after"    // all is done, and an error reported
	fromThen = "for good" // nothing is done, nor by any call after it
)

// failing counts the calls that change a store, and has one of them go wrong.
type failing struct {
	at    int64 // 0: none
	how   string
	calls atomic.Int64
}

// do makes a call of n records: what does them.
func (f *failing) do(n int, what func(n int) error) error {
	call := f.calls.Add(1)
	if f.at == 0 || call < f.at || call > f.at && f.how != fromThen {
		return what(n)
	}
	switch f.how {
	case halfOfIt:
		return errors.Join(what(n/2), errStore)
	case afterIt:
		return errors.Join(what(n), errStore)
	}
	return errStore
}

// mend has all calls from now on go well.
func (f *failing) mend() { f.at = 0 }

// empty asserts that a store that was to drop a collection has nothing of it.
func empty(t *testing.T, stores []rag.IDLister) {
	t.Helper()
	for _, s := range stores {
		for id := range s.IDs(t.Context(), "default") {
			t.Errorf("%T still has %s", s, id)
		}
	}
}

// farVectors is a vector store elsewhere, and farWords a word index.
type (
	farVectors struct {
		allOfVectors
		*failing
	}
	farWords struct {
		allOfWords
		*failing
	}
	allOfVectors interface {
		rag.VectorStore
		rag.IDLister
		rag.Dropper
		rag.VectorReader
		rag.Fingerprinter
		io.Closer
	}
	allOfWords interface {
		rag.SparseIndex
		rag.IDLister
		rag.Dropper
		rag.Fingerprinter
		io.Closer
	}
)

func (s farVectors) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	return s.do(len(recs), func(n int) error { return s.allOfVectors.Upsert(ctx, collection, recs[:n]) })
}

func (s farVectors) Delete(ctx context.Context, collection string, ids []string) error {
	return s.do(len(ids), func(n int) error { return s.allOfVectors.Delete(ctx, collection, ids[:n]) })
}

func (s farVectors) Drop(ctx context.Context, collection string) error {
	return s.do(1, func(int) error { return s.allOfVectors.Drop(ctx, collection) })
}

func (s farWords) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	return s.do(len(recs), func(n int) error { return s.allOfWords.Upsert(ctx, collection, recs[:n]) })
}

func (s farWords) Delete(ctx context.Context, collection string, ids []string) error {
	return s.do(len(ids), func(n int) error { return s.allOfWords.Delete(ctx, collection, ids[:n]) })
}

func (s farWords) Drop(ctx context.Context, collection string) error {
	return s.do(1, func(int) error { return s.allOfWords.Drop(ctx, collection) })
}

// farBase is a data folder, and folders of stores that are elsewhere.
type farBase struct{ dir, vectors, words string }

// open opens an engine over copies of the folders, with stores that share the count of calls.
func (b farBase) open(t *testing.T, f *failing) (eng *rag.Engine, stores []rag.IDLister) {
	t.Helper()
	vectors, err := vectorstore.OpenFlat(copyDir(t, b.vectors), vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	words, err := sparse.OpenBM25(copyDir(t, b.words), sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err = shelfEngine(copyDir(t, b.dir), rag.WithVectorStore(farVectors{vectors, f}), rag.WithSparseIndex(farWords{words, f}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(eng.Close(), vectors.Close(), words.Close()); err != nil {
			t.Error(err)
		}
	})
	return eng, []rag.IDLister{vectors, words}
}

// farPapers is how many papers the tests of failing stores work on.
const farPapers = 10

func newFarBase(t *testing.T) farBase {
	t.Helper()
	b := farBase{t.TempDir(), t.TempDir(), t.TempDir()}
	vectors, err := vectorstore.OpenFlat(b.vectors, vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	words, err := sparse.OpenBM25(b.words, sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := shelfEngine(b.dir, rag.WithVectorStore(vectors), rag.WithSparseIndex(words))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingestShelf(t.Context(), eng, "", newChange(farPapers).before); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(eng.Close(), vectors.Close(), words.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAStoreFailsAtEveryCallInTurn runs tasks with stores elsewhere of which each call in turn goes wrong, in each way. The
// engine lives on: every document is whole at once, a repair leaves nothing to find, and the task, done again, ends as
// it does undisturbed.
func TestAStoreFailsAtEveryCallInTurn(t *testing.T) {
	unsynced(t)
	o, base, c := newOracle(t), newFarBase(t), newChange(farPapers)
	for _, name := range []string{"ingest", "delete", "drop", "reindex"} {
		for _, how := range []string{beforeIt, halfOfIt, afterIt, fromThen} {
			for at := int64(1); ; at++ {
				f := &failing{at: at, how: how}
				done := true // also where the test is not asked for
				t.Run(fmt.Sprintf("%s, %s call %d", name, how, at), func(t *testing.T) {
					eng, stores := base.open(t, f)
					err := tasks[name].do(t.Context(), eng, c, "")
					if done = f.calls.Load() < at; done {
						if err != nil {
							t.Fatalf("no call failed, and yet: %v", err)
						}
						return
					}
					if !errors.Is(err, errStore) {
						t.Errorf("the error of the store is not told: %v", err)
					}
					if f.how == fromThen {
						if _, err := eng.Repair(t.Context(), ""); err == nil && len(holds(t, eng, "")) > 0 {
							t.Error("a repair is well with a store that is down")
						}
					}
					f.mend()
					o.recovers(t, eng, tasks[name], c, "")
					if name == "drop" {
						empty(t, stores)
					}
				})
				if done || t.Failed() {
					break
				}
			}
		}
	}
}

// TestTheCatalogFailsAtEveryWriteInTurn has each write to the catalog's file fail in turn, as on a full disk; the engine
// lives on.
func TestTheCatalogFailsAtEveryWriteInTurn(t *testing.T) {
	o, base, c := newOracle(t), newCrashBase(t, farPapers), newChange(farPapers)
	full := syscall.ENOSPC
	for _, name := range []string{"ingest", "delete", "drop", "reindex", "compact", "backup"} {
		for at := 1; ; at += 1 + at/3 {
			e, failed := base.errand(t, name), false
			done := true // also where the test is not asked for
			stop := fault.Intercept(func(w fault.Write) error {
				err := fault.FailAt(at, float64(at%3)/2, full)(w)
				failed = failed || err != nil
				return err
			})
			eng, err := shelfEngine(e.Dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s, write %d", name, at), func(t *testing.T) {
				err := tasks[name].do(t.Context(), eng, c, e.Aside)
				if done = !failed; failed && !errors.Is(err, full) {
					t.Errorf("the error of the disk is not told: %v", err)
				} else if failed && !strings.HasSuffix(err.Error(), "make room on the disk, then do it again: what was written before is whole") {
					t.Errorf("it is not told what to do: %v", err)
				}
				if failed {
					o.recovers(t, eng, tasks[name], c, e.Aside)
				}
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
			stop()
			if done || t.Failed() {
				break
			}
		}
	}
}
