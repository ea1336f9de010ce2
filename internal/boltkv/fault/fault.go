// Package fault is for tests: it puts a hook into the commits of databases that boltkv opens, to fail, to end the process
// or to look at the file between two writes.
//
//	stop := fault.Intercept(fault.KillAt(7, 0.5)) // the process ends in the middle of the seventh write
//	defer stop()
package fault

import (
	"fmt"
	"os"
	"reflect"
	"sync"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// Write is one write to a database's file. A commit is a write for each run of new pages, a sync, a write of one of the two
// header pages, which makes the others count, and a sync. What a process that is killed has written is in the
// file; what it has not synced is lost if the machine fails.
type Write struct {
	N      int    // counts from 1 over all databases since Intercept
	Path   string // of the file
	Offset int64
	Data   []byte // valid during the call
	Header bool   // the write that ends a commit

	write func([]byte, int64) (int, error)
}

// Do writes the first n bytes of the data to the file.
func (w Write) Do(n int) error {
	_, err := w.write(w.Data[:n], w.Offset)
	return err
}

// All writes the data to the file, as if there were no hook.
func (w Write) All() error { return w.Do(len(w.Data)) }

// Intercept gives hook every write to every database that is opened from now on, in place of doing it. An error that it
// returns is that of the commit. Nothing is synced meanwhile: that only slows tests down, since a process that dies loses
// nothing that it has written. One hook at a time; stop takes it out of databases opened later.
func Intercept(hook func(Write) error) (stop func()) {
	if boltkv.OnOpen != nil {
		panic("fault: there is a hook already")
	}
	var mu sync.Mutex
	n := 0
	boltkv.OnOpen = func(db *bolt.DB) {
		db.NoSync, db.NoGrowSync = true, true
		writeAt := writesOf(db)
		real, path := *writeAt, db.Path()
		*writeAt = func(p []byte, offset int64) (int, error) {
			mu.Lock()
			n++
			w := Write{N: n, Path: path, Offset: offset, Data: p, Header: offset < int64(2*len(p)) && offset < int64(2*os.Getpagesize()), write: real}
			mu.Unlock()
			if err := hook(w); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return func() { boltkv.OnOpen = nil }
}

// writesOf returns the place where bbolt keeps the function that writes its pages, which its own tests replace.
func writesOf(db *bolt.DB) *func([]byte, int64) (int, error) {
	field := reflect.ValueOf(db).Elem().FieldByName("ops").FieldByName("writeAt")
	if want := reflect.TypeFor[func([]byte, int64) (int, error)](); field.Type() != want {
		panic(fmt.Sprintf("fault: bbolt writes by a %s, not a %s: look at what it does now", field.Type(), want))
	}
	return (*func([]byte, int64) (int, error))(unsafe.Pointer(field.UnsafeAddr()))
}

// KillAt ends the process in its n-th write, after this share of its bytes.
func KillAt(n int, share float64) func(Write) error {
	return func(w Write) error {
		if w.N < n {
			return w.All()
		}
		if err := w.Do(int(share * float64(len(w.Data)))); err != nil {
			return err
		}
		return Kill()
	}
}

// FailAt makes the n-th write fail with err, after this share of its bytes; others succeed.
func FailAt(n int, share float64, err error) func(Write) error {
	return func(w Write) error {
		if w.N != n {
			return w.All()
		}
		if err := w.Do(int(share * float64(len(w.Data)))); err != nil {
			return err
		}
		return err
	}
}

// Kill ends the process at once: nothing is closed, no deferred function runs.
func Kill() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	select {} // the signal is on its way
}
