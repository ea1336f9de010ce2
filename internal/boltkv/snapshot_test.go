package boltkv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// readSnapshot makes a snapshot, checks that it is one state of commitNext, whole, and returns its counter.
func readSnapshot(t *testing.T, dir string) (n uint64, err error) {
	t.Helper()
	to := t.TempDir()
	if err := boltkv.Snapshot(dir, to); err != nil {
		if left, _ := filepath.Glob(filepath.Join(to, "*")); len(left) > 0 {
			t.Errorf("a snapshot that failed left %v", left)
		}
		return 0, err
	}
	db := open(t, to)
	defer db.Close()
	return n, db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("numbers"))
		n = counter(b)
		if records := uint64(b.Stats().KeyN); records != recordsAt(n) {
			t.Errorf("%d records for counter %d: a part of a transaction", records, n)
		}
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
}

// TestSnapshotsWhileAnotherProcessCommits: each is a state that was complete when it was taken.
func TestSnapshotsWhileAnotherProcessCommits(t *testing.T) {
	for _, gate := range []bool{true, false} {
		t.Run(fmt.Sprintf("gate %v", gate), func(t *testing.T) {
			dir := t.TempDir()
			_, lines := openChild(t, "commit", dir)
			if !lines.Scan() {
				t.Fatal("the child ended")
			}
			var said atomic.Uint64
			go func() {
				for lines.Scan() {
					if n, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
						said.Store(n)
					}
				}
			}()
			if !gate { // as with a program that knows nothing of it
				if err := os.Remove(filepath.Join(dir, boltkv.GateName)); err != nil {
					t.Fatal(err)
				}
			}
			states := map[uint64]bool{}
			for range 50 {
				least := said.Load()
				n, err := readSnapshot(t, dir)
				if !gate && errors.Is(err, boltkv.ErrLocked) {
					continue // there was no pause in which a copy could be made
				}
				if err != nil {
					t.Fatal(err)
				}
				if n < least {
					t.Errorf("counter %d, but %d was acknowledged before", n, least)
				}
				states[n] = true
			}
			if gate && len(states) < 2 {
				t.Errorf("%d states in 50 snapshots: the other process did not get on", len(states))
			}
		})
	}
}

func TestSnapshotLeavesTheDirectoryAlone(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	if _, err := commitNext(db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := readDir(t, dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	if n, err := readSnapshot(t, dir); err != nil || n != 1 {
		t.Errorf("counter %d, %v", n, err)
	}
	if got := readDir(t, dir); fmt.Sprint(got) != fmt.Sprint(files) {
		t.Errorf("files %v, before %v", got, files)
	}
}

// readDir lists files with their size and time.
func readDir(t *testing.T, dir string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprint(e.Name(), info.Size(), info.ModTime()))
	}
	return files
}

func TestSnapshotOfWhatCannotBeRead(t *testing.T) {
	empty, damaged, foreign := t.TempDir(), t.TempDir(), t.TempDir()
	db := open(t, damaged)
	put(t, db, "x", "k", make([]byte, 1<<16))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole := content(t, damaged)
	write(t, damaged, whole[:len(whole)/4])
	write(t, foreign, []byte("SQLite format 3\x00"))
	for dir, want := range map[string]error{empty: os.ErrNotExist, damaged: boltkv.ErrDamaged, foreign: boltkv.ErrFormat} {
		if err := boltkv.Snapshot(dir, t.TempDir()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	to := t.TempDir()
	open(t, to)
	if err := boltkv.Snapshot(damaged, to); !errors.Is(err, os.ErrExist) {
		t.Errorf("a database in the way: %v", err)
	}
}

// BenchmarkSnapshot copies and checks a database of 100 MB.
func BenchmarkSnapshot(b *testing.B) {
	dir := b.TempDir()
	db := open(b, dir)
	for part := range 10 {
		err := db.Update(func(tx *bolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("x"))
			for i := range 7000 {
				if err == nil {
					err = bucket.Put(fmt.Appendf(nil, "%d/%08d", part, i), make([]byte, 1300))
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(content(b, dir))))
	for b.Loop() {
		if err := boltkv.Snapshot(dir, b.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
}
