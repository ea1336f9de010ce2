package boltkv

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// Kinds of errors; test with errors.Is.
var (
	ErrLocked  = errors.New("database is locked")
	ErrFormat  = errors.New("database has another format")
	ErrDamaged = errors.New("database is damaged")
	ErrClosed  = errors.New("database is closed")
)

// LockedError says that another process has the database open.
type LockedError struct {
	Path string
	PID  int // of the holder; 0 if it left none
}

// Error names the file and the holder, and says what to do.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is open in another process: wait for it to end, stop it, or read a snapshot", e.Path)
	}
	return fmt.Sprintf("%s is open in process %d: wait for it to end, stop it, or read a snapshot", e.Path, e.PID)
}

// Is makes the error match [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// FormatError says that the file is a database of another program, or of a newer version of this one.
type FormatError struct {
	Path    string
	Version int // of the file; 0 if it is not ours
}

// Error names the file and says what to do.
func (e *FormatError) Error() string {
	if e.Version == 0 {
		return fmt.Sprintf("%s was not written by rag: use another data directory, or move the file away", e.Path)
	}
	return fmt.Sprintf("%s has format version %d, this program knows up to %d: use a newer version of the program", e.Path, e.Version, formatVersion)
}

// Is makes the error match [ErrFormat].
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// DamagedError says that the file is corrupted.
type DamagedError struct {
	Path   string
	Reason string
	Record bool // a record is damaged, and the pages that hold it are whole: the others can be read and written
}

// Error names the file and the reason, and says what to do.
func (e *DamagedError) Error() string {
	if e.Record {
		return fmt.Sprintf("%s has a damaged record (%s): `rag verify` names it, and `rag verify --repair` puts right what can be", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s is corrupted (%s): restore it from a backup with `rag restore`, or remove it, which holds copies of your documents only, and ingest again", e.Path, e.Reason)
}

// Is makes the error match [ErrDamaged].
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

// guard runs bbolt code. On a damaged file bbolt follows wild page numbers: it panics, or touches memory that is not
// there. Both become a DamagedError, after which nothing is written. So does a record that fails its checksum; where all
// pages are whole it can still be replaced, and others be written. Any other panic passes through.
func (f *file) guard(run func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if !fromDamage(r) {
				panic(r)
			}
			err = f.damaged(fmt.Sprint(r))
		}
	}()
	err = run()
	switch {
	case errors.Is(err, record.ErrDamaged):
		f.suspect.Store(true)
		return &DamagedError{Path: f.path, Reason: err.Error(), Record: true}
	case errors.Is(err, record.ErrNewer):
		return fmt.Errorf("%s: %w: %w: use a newer version of the program", f.path, err, ErrFormat)
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return err
}

func (f *file) damaged(reason string) error {
	d := &DamagedError{Path: f.path, Reason: reason}
	f.damage.CompareAndSwap(nil, d)
	return d
}

// writable reports damage of the file. Who has met a damaged record has the pages checked first, once.
func (f *file) writable() error {
	if d := f.damage.Load(); d != nil {
		return d
	}
	if !f.suspect.Swap(false) {
		return nil
	}
	err := checkFile(f.path, true)
	var d *DamagedError
	if errors.As(err, &d) {
		return f.damaged(d.Reason)
	}
	return err
}

// fromDamage tells a fault on mapped memory, or a panic raised in bbolt, from a mistake in our own code. It must be
// called by the deferred function that recovered: the frames of the panic are still on the stack then.
func fromDamage(r any) bool {
	if fault, ok := r.(interface{ Addr() uintptr }); ok && fault.Addr() != 0 {
		return true
	}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}
