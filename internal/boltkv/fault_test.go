package boltkv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/fault"
)

const childKill = "BOLTKV_TEST_KILL" // in which write of its commits the child ends

// whole asserts that the database opens, holds whole transactions only, and takes another, and returns its counter.
func whole(t testing.TB, dir string) (n uint64) {
	t.Helper()
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("numbers"))
		if b == nil {
			return nil
		}
		n = counter(b)
		if records := uint64(b.Stats().KeyN); records != recordsAt(n) {
			t.Errorf("%d records for counter %d: a part of a transaction", records, n)
		}
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commitNext(db); err != nil {
		t.Errorf("commit after it: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return n
}

// TestKilledInsideACommit ends a process in writes of a few commits, later and later: before it, in its middle and after it.
func TestKilledInsideACommit(t *testing.T) {
	last := uint64(0)
	for write := 1; write <= 64; write += 1 + write/8 {
		dir := t.TempDir()
		t.Setenv(childKill, strconv.Itoa(write))
		cmd, lines := startChild(t, "commit", dir)
		lines.Scan() // "open", unless it died before
		said := uint64(0)
		for lines.Scan() {
			n, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			said = n
		}
		_ = cmd.Wait() // it was killed: that is its error
		n := whole(t, dir)
		if n != said && n != said+1 {
			t.Errorf("killed in write %d: the counter is %d, and %d was acknowledged", write, n, said)
		}
		last = max(last, n)
	}
	if last < 2 {
		t.Errorf("the last kill came at counter %d: the writes are not those of commits", last)
	}
}

// TestAFailedWriteLeavesTheStateBefore has writes of a few commits fail, later and later; the process goes on with the database.
func TestAFailedWriteLeavesTheStateBefore(t *testing.T) {
	full := errors.New("no space left on device")
	for _, share := range []float64{0, 0.5, 1} {
		for write := 1; ; write += 1 + write/8 {
			dir := t.TempDir()
			failed := false
			stop := fault.Intercept(func(w fault.Write) error {
				err := fault.FailAt(write, share, full)(w)
				failed = failed || err != nil
				return err
			})
			n, errs := uint64(0), 0
			db, err := boltkv.Open(dir)
			for i := 0; i < 4 && err == nil; i++ {
				got, err := commitNext(db)
				switch {
				case errors.Is(err, full):
					errs++
				case err != nil:
					t.Fatalf("write %d: %v", write, err)
				case got != n+1 && (share == 0 || got != n+2): // a header that was written counts, also if its write failed then
					t.Errorf("write %d: commit %d after %d", write, got, n)
				}
				if err == nil {
					n = got
				}
			}
			if err != nil && !errors.Is(err, full) {
				t.Fatal(err)
			}
			if err == nil {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
			stop()
			if !failed {
				break
			}
			if got := whole(t, dir); got < n || got > n+uint64(errs) {
				t.Errorf("write %d failed after %v of it: counter %d, acknowledged %d", write, share, got, n)
			}
		}
	}
}

// commitLog is the writes of one commit, and the file before them.
type commitLog struct {
	before []byte
	pages  []savedWrite
	header savedWrite
}

type savedWrite struct {
	offset int64
	data   []byte
}

func (w savedWrite) apply(file []byte, data []byte) []byte {
	if need := int(w.offset) + len(data); need > len(file) {
		file = append(file, make([]byte, need-len(file))...)
	}
	copy(file[w.offset:], data)
	return file
}

// recordCommits runs some commits and keeps what each of them writes.
func recordCommits(t *testing.T, commits int) (logs []commitLog) {
	t.Helper()
	dir := t.TempDir()
	var log commitLog
	stop := fault.Intercept(func(w fault.Write) error {
		saved := savedWrite{w.Offset, bytes.Clone(w.Data)}
		if filepath.Base(w.Path) != boltkv.FileName {
			return w.All()
		}
		if w.Header {
			log.header = saved
		} else {
			log.pages = append(log.pages, saved)
		}
		return w.All()
	})
	defer stop()
	db := open(t, dir)
	for range commits {
		before, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
		if err != nil {
			t.Fatal(err)
		}
		log = commitLog{before: before}
		if _, err := commitNext(db); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log)
	}
	return logs
}

const sector = 512 // what a disk writes whole

// TestPowerFailsInsideACommit makes files as a machine that loses its power leaves them: of what was not synced yet, any
// part may be on disk, in any order, cut at a sector.
func TestPowerFailsInsideACommit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for i, log := range recordCommits(t, 6) {
		for trial := range 5 {
			file := bytes.Clone(log.before)
			for _, at := range rnd.Perm(len(log.pages)) {
				if w := log.pages[at]; rnd.IntN(2) == 0 {
					file = w.apply(file, w.data[:rnd.IntN(len(w.data)/sector+1)*sector])
				}
			}
			checkTorn(t, file, fmt.Sprintf("commit %d, trial %d, pages", i+1, trial), uint64(i), uint64(i))

			file = bytes.Clone(log.before)
			for _, w := range log.pages {
				file = w.apply(file, w.data)
			}
			file = log.header.apply(file, log.header.data[:rnd.IntN(200)]) // any byte: more than disks do
			checkTorn(t, file, fmt.Sprintf("commit %d, trial %d, header", i+1, trial), uint64(i), uint64(i+1))
		}
	}
}

// checkTorn asserts that a file is the state of one of two counters.
func checkTorn(t *testing.T, file []byte, what string, low, high uint64) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, file)
	if err := os.WriteFile(filepath.Join(dir, boltkv.LockName), []byte("99999999\n"), 0o600); err != nil { // its process died
		t.Fatal(err)
	}
	if n := whole(t, dir); n < low || n > high {
		t.Errorf("%s: counter %d, want %d to %d", what, n, low, high)
	}
}
