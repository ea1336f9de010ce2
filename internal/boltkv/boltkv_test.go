package boltkv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

func open(t testing.TB, dir string) *boltkv.DB {
	t.Helper()
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test that cares closes it itself
	return db
}

func put(t testing.TB, db *boltkv.DB, bucket, key string, value []byte) {
	t.Helper()
	err := db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(key), value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, db *boltkv.DB, bucket, key string) (value string) {
	t.Helper()
	err := db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket([]byte(bucket)); b != nil {
			value = string(b.Get([]byte(key)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestUpdatesCountsThoseOfAllHandles(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	count := func() uint64 {
		n, err := a.Updates()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	get(t, b, "x", "k")
	if got := count(); got != before {
		t.Errorf("got %d after reading, want %d", got, before)
	}
	put(t, b, "x", "k", []byte("v"))
	if got := count(); got != before+1 {
		t.Errorf("got %d after a write through the other handle, want %d", got, before+1)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Updates(); !errors.Is(err, boltkv.ErrClosed) {
		t.Errorf("closed handle: %v, want ErrClosed", err)
	}
}

func TestHandlesOfOnePathShareTheFile(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	a, b := open(t, dir), open(t, link)
	put(t, a, "x", "k", []byte("v"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "x", "k"); got != "v" {
		t.Errorf("got %q after the first handle closed, want v", got)
	}
	if err := a.View(func(*bolt.Tx) error { return nil }); !errors.Is(err, boltkv.ErrClosed) {
		t.Errorf("closed handle: %v, want ErrClosed", err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if got := get(t, open(t, dir), "x", "k"); got != "v" {
		t.Errorf("got %q after reopen, want v", got)
	}
}

func TestManyGoroutinesOpenUseAndClose(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 5 {
				db, err := boltkv.Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				put(t, db, "x", fmt.Sprint(i), []byte(fmt.Sprint(j)))
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	db := open(t, dir)
	for i := range 16 {
		if got := get(t, db, "x", fmt.Sprint(i)); got != "4" {
			t.Errorf("key %d is %q, want 4", i, got)
		}
	}
}

func TestReadingChangesNoByte(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	put(t, db, "x", "k", []byte("v"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := fileBytes(t, dir)
	db = open(t, dir)
	get(t, db, "x", "k")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if fileBytes(t, dir) != before {
		t.Error("opening, reading and closing changed the file")
	}
	if left, err := os.ReadFile(filepath.Join(dir, boltkv.LockName)); err != nil || len(left) > 0 {
		t.Errorf("LOCK holds %q (%v) after a clean close, want nothing", left, err)
	}
}

func TestLockNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := openChild(t, "hold", dir)
	_, err := boltkv.Open(dir)
	var locked *boltkv.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, boltkv.ErrLocked) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	if locked.PID != cmd.Process.Pid || !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("%q names process %d, want %d", err, locked.PID, cmd.Process.Pid)
	}
}

func TestKilledWhileCommitting(t *testing.T) {
	dir := t.TempDir()
	for trial := range 8 {
		cmd, lines := openChild(t, "commit", dir)
		said := uint64(0)
		for range 1 + 5*trial {
			if !lines.Scan() {
				t.Fatal("the child ended")
			}
			n, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			said = n
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed: that is its error

		db := open(t, dir)
		err := db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("numbers"))
			n, records := counter(b), uint64(b.Stats().KeyN)
			if n < said {
				t.Errorf("trial %d: counter is %d, but %d was acknowledged", trial, n, said)
			}
			if records != recordsAt(n) {
				t.Errorf("trial %d: %d records for counter %d: a part of a transaction", trial, records, n)
			}
			for err := range tx.Check() {
				t.Errorf("trial %d: %v", trial, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := commitNext(db); err != nil {
			t.Errorf("trial %d: commit after the crash: %v", trial, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageIsNotForgotten: a large file is checked whole only after a crash, so the mark of the crash must outlive an open
// that was refused.
func TestDamageIsNotForgotten(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, boltkv.LockName)
	if err := os.WriteFile(lock, []byte("99999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir, []byte("garbage"))
	if _, err := boltkv.Open(dir); !errors.Is(err, boltkv.ErrDamaged) {
		t.Fatalf("got %v, want ErrDamaged", err)
	}
	if mark, err := os.ReadFile(lock); err != nil || len(mark) == 0 {
		t.Errorf("LOCK is %q (%v) after a refused open, want a process ID", mark, err)
	}
}

func TestCrashWhileCreatingLeavesNothingToClean(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, boltkv.FileName+".new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, dir), "x", "k", []byte("v"))
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"default": true, "Käse 芝士/…": true, " ": true, "": false, "a\nb": false, "a\x00": false, "\u0085": false,
		strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false,
	} {
		if err := boltkv.CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%.10q) = %v, want ok=%v", name, err, ok)
		}
	}
}
