// Package boltkv opens <dir>/rag.db for the rooms that keep their data in it: one bbolt file, one handle per process
// and path, a lock that names its holder, and errors instead of panics where the file is damaged.
//
//	db, err := boltkv.Open(dir)
//	if err != nil {
//		return err // *LockedError, *FormatError, *DamagedError or an I/O error
//	}
//	defer db.Close()
//	err = db.Update(func(tx *bolt.Tx) error { … })
package boltkv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/seed-d8745b77/rag/internal/datafile"
	"github.com/seed-d8745b77/rag/internal/filelock"
	"github.com/seed-d8745b77/rag/internal/remedy"
)

// Names inside the data directory.
const (
	FileName = "rag.db"     // the database
	LockName = "LOCK"       // locked while a process has the database open; holds its process ID
	GateName = "COMMIT"     // locked while a transaction is being written; shared by those who copy the file
	newName  = "rag.db.new" // a database being made; renamed when complete
)

// SequentialFill is the FillPercent to set on a bucket whose keys only grow: pages are left full, not half full.
const SequentialFill = 0.95

// BatchRecords is how many records of about 1 kB a transaction should hold at most: larger ones are slower (measured:
// 1,000 a transaction 23,302 records/s, 10,000 a transaction 2,023).
const BatchRecords = 1000

// lockTimeout is how long Open waits for another process: one that is just closing, no other.
const lockTimeout = 100 * time.Millisecond

// commitPatience is how long a commit waits for those who copy the file. A copy that is not done by then is torn, which
// its maker sees.
const commitPatience = 10 * time.Second

// maxNameLen keeps a collection name far below bbolt's key limit of 32,768 bytes.
const maxNameLen = 1024

// DB is a handle on an open database. It is safe for concurrent use. Several handles on one path share the file, which
// is closed with the last of them.
type DB struct {
	file   *file
	closed atomic.Bool
}

// file is what the handles of one path share.
type file struct {
	path string // absolute, of rag.db
	refs int    // guarded by registry.mu

	mu   sync.Mutex // held while opening and closing
	lock *filelock.Lock
	gate *filelock.Gate // used under write

	write     sync.Mutex   // held by the one that writes, before swap
	swap      sync.RWMutex // held for reading by every transaction, for writing while bolt changes
	bolt      *bolt.DB     // nil until opened and after the last handle closed
	compacted *bolt.DB     // guarded by write: bolt, if nothing was written since it was compacted

	damage  atomic.Pointer[DamagedError] // first damage seen; no more writing then
	updates atomic.Uint64                // that have ended
}

var registry = struct {
	mu    sync.Mutex
	files map[string]*file
}{files: map[string]*file{}}

// Open opens <dir>/rag.db, and makes the directory and the file where they are missing. If another process has it open
// that is a [LockedError], at once. A file that is not one of ours or was written by a newer version
// is a [FormatError], a damaged one a [DamagedError]; neither is changed by a byte. The errors match [ErrLocked],
// [ErrFormat] and [ErrDamaged].
func Open(dir string) (*DB, error) {
	if err := os.MkdirAll(dir, datafile.DirMode); err != nil {
		return nil, remedy.OfFolder(fmt.Errorf("make data directory: %w", err))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	f := acquire(filepath.Join(abs, FileName))
	if err := f.open(); err != nil {
		_ = f.release() // nothing is open: there is nothing to fail
		return nil, remedy.OfFolder(err)
	}
	return &DB{file: f}, nil
}

func acquire(path string) *file {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	f := registry.files[path]
	if f == nil {
		f = &file{path: path}
		registry.files[path] = f
	}
	f.refs++
	return f
}

// release gives one reference back and closes the file with the last.
func (f *file) release() error {
	registry.mu.Lock()
	f.refs--
	last := f.refs == 0
	if last {
		delete(registry.files, f.path)
	}
	registry.mu.Unlock()
	if !last {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write.Lock()
	defer f.write.Unlock()
	f.swap.Lock()
	defer f.swap.Unlock()
	if f.lock == nil { // it could not be opened
		return nil
	}
	var err error
	if f.bolt != nil { // else a compaction could not open it again
		err = f.guard(f.bolt.Close)
		f.bolt = nil
	}
	return errors.Join(err, f.gate.Close(), f.lock.Release(f.damage.Load() == nil))
}

// open opens the file unless another handle did.
func (f *file) open() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bolt != nil {
		return nil
	}
	lock, err := takeLock(f.path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Release(!lock.Stale()))
		}
	}()
	_ = os.Remove(filepath.Join(filepath.Dir(f.path), newName)) // what a crash left; where it must go, create says so
	if err := datafile.NoLink(f.path); err != nil {
		return fmt.Errorf("open database: %w", err)
	} else if _, err := os.Lstat(f.path); errors.Is(err, os.ErrNotExist) {
		if err := create(f.path); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("open database: %w", err)
	} else if err := checkFile(f.path, lock.Stale()); err != nil {
		return err
	}
	gate, err := filelock.OpenGate(filepath.Join(filepath.Dir(f.path), GateName))
	if err != nil {
		return err
	}
	db, err := f.openBolt()
	if err != nil {
		return errors.Join(err, gate.Close())
	}
	f.bolt, f.lock, f.gate = db, lock, gate
	return nil
}

// takeLock locks the directory of a database.
func takeLock(path string) (*filelock.Lock, error) {
	lock, err := filelock.Take(filepath.Join(filepath.Dir(path), LockName), lockTimeout)
	var held *filelock.HeldError
	switch {
	case err == nil:
		return lock, nil
	case errors.As(err, &held):
		return nil, &LockedError{Path: path, PID: held.PID}
	}
	return nil, fmt.Errorf("data directory: %w", err)
}

// openBolt maps the checked file and reads its format record.
func (f *file) openBolt() (*bolt.DB, error) {
	var db *bolt.DB
	err := f.guard(func() (err error) {
		db, err = openFile(f.path, bolt.Options{FreelistType: bolt.FreelistMapType})
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) { // a program that knows nothing of LOCK, such as bbolt's own tool
		return nil, &LockedError{Path: f.path}
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", f.path, err)
	}
	err = f.guard(func() error {
		return db.View(func(tx *bolt.Tx) error { return checkFormat(f.path, tx) })
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OnOpen is given every database that is opened, before its first transaction. Tests set it, programs leave it nil.
var OnOpen func(*bolt.DB)

// openFile opens a bbolt file for writing.
func openFile(path string, o bolt.Options) (*bolt.DB, error) {
	o.Timeout = lockTimeout
	o.OpenFile = func(path string, flag int, _ os.FileMode) (*os.File, error) { return datafile.OpenFile(path, flag) }
	db, err := bolt.Open(path, datafile.FileMode, &o)
	if err == nil && OnOpen != nil {
		OnOpen(db)
	}
	return db, err
}

// create makes a complete empty database beside the path and renames it, so that a crash leaves none or a whole one.
func create(path string) error {
	tmp := filepath.Join(filepath.Dir(path), newName)
	if err := removeIfThere(tmp); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	db, err := openFile(tmp, bolt.Options{})
	if err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	err = errors.Join(db.Update(writeFormat), db.Close())
	if err == nil {
		err = settle(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// View runs fn in a read transaction. Keys and values are valid only within fn and only in its goroutine: a fault on a
// damaged file is turned into an error there and nowhere else. fn must not call View, Update or Compact.
func (db *DB) View(fn func(*bolt.Tx) error) error {
	return db.transact(func(b *bolt.DB) error { return b.View(fn) })
}

// Update runs fn in a write transaction, all or nothing; it is durable when Update returns. Slices given to Put must
// not change before that. fn must not call View, Update or Compact. Once damage was seen the file is not written any more.
func (db *DB) Update(fn func(*bolt.Tx) error) error {
	db.file.write.Lock() // before swap: what waits here does not hold a compaction up
	defer db.file.write.Unlock()
	if d := db.file.damage.Load(); d != nil && !db.closed.Load() {
		return d
	}
	db.file.compacted = nil
	defer db.file.updates.Add(1)
	return db.transact(func(b *bolt.DB) error { return db.file.update(b, fn) })
}

// update is bolt's Update that keeps off those who copy the file while it is written, which is after fn.
func (f *file) update(b *bolt.DB, fn func(*bolt.Tx) error) error {
	leave := func() {}
	defer func() { leave() }()
	return b.Update(func(tx *bolt.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		leave, _ = f.gate.Pass(false, commitPatience)
		return nil
	})
}

// Updates returns how many calls of Update on the file have ended, through whatever handle; [ErrClosed] if this one is
// closed. Nobody else can write while the file is open here: what was read after Updates returned a number is what the
// file holds as long as it returns the same.
func (db *DB) Updates() (uint64, error) {
	if db.closed.Load() {
		return 0, ErrClosed
	}
	return db.file.updates.Load(), nil
}

// transact runs a transaction on the database that is open now.
func (db *DB) transact(run func(*bolt.DB) error) error {
	f := db.file
	f.swap.RLock()
	defer f.swap.RUnlock()
	if db.closed.Load() || f.bolt == nil {
		return ErrClosed
	}
	return f.guard(func() error { return run(f.bolt) })
}

// Close gives the handle back; closing it again does nothing. The last handle waits for running transactions and
// closes the file.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	return db.file.release()
}

// CheckName reports what is wrong with a collection name: it is empty, too long or holds a control character.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a collection needs a name")
	case len(name) > maxNameLen:
		return fmt.Errorf("collection name of %d bytes: at most %d", len(name), maxNameLen)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("collection name %q holds a control character", name)
	}
	return nil
}
