package boltkv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-d8745b77/rag/internal/datafile"
	"github.com/seed-d8745b77/rag/internal/filelock"
)

const (
	// snapshotPatience is how long a snapshot waits for a commit that is being written.
	snapshotPatience = 10 * time.Second
	// snapshotTries is how often a copy is made before giving up. With the gate the first is good.
	snapshotTries = 5
)

// errWritten says that the database was written while it was copied.
var errWritten = errors.New("it was written meanwhile")

// Snapshot copies the database of a directory, as it is at this moment, into another one that has none, also while
// another process has it open and writes. Nothing is written or locked in the first, which may be read-only. A directory
// without a database is an error that matches [os.ErrNotExist]; one that is written all the time, by a program that does
// not know of snapshots, is a [LockedError].
//
// The copy is sound because bbolt never overwrites what the newest state consists of: pages of state n come into use again
// only in the commit after the next, n+2, which begins when n+1 is complete. So if n is still the newest state
// after the last byte was read, no page of it was touched. Commits pass a gate that a copy holds, so that one is made
// in time also while another process commits without pause. All pages are checked at last, for file systems
// that show one process late what another wrote.
func Snapshot(from, to string) error {
	source, copied := filepath.Join(from, FileName), filepath.Join(to, FileName)
	if err := absent(copied); err != nil {
		return err
	}
	gate, err := filelock.FindGate(filepath.Join(from, GateName))
	if err == nil {
		defer func() { _ = gate.Close() }() // nothing was written: there is nothing to fail
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("snapshot: %w", err)
	}
	for range snapshotTries {
		if err = snapshot(gate, source, copied); !errors.Is(err, errWritten) && !errors.Is(err, ErrDamaged) {
			break
		}
	}
	var damaged *DamagedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errWritten):
		err = &LockedError{Path: source}
	case errors.As(err, &damaged):
		err = &DamagedError{Path: source, Reason: damaged.Reason}
	}
	return errors.Join(err, removeIfThere(copied))
}

// snapshot makes one copy and checks it; gate is nil where no process of this version has written yet.
func snapshot(gate *filelock.Gate, source, copied string) error {
	leave := func() {}
	if gate != nil {
		leave, _ = gate.Pass(true, snapshotPatience)
	}
	err := copyState(source, copied)
	leave()
	if err != nil {
		return err
	}
	return checkFile(copied, true)
}

// copyState copies the pages of the newest state. It is errWritten if that was replaced before the end.
func copyState(source, copied string) (err error) {
	if err := datafile.NoLink(source); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if info, err := os.Stat(source); err != nil { // before opening: a pipe would be waited for
		return fmt.Errorf("snapshot: %w", err)
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("snapshot: %s is not a regular file", source)
	}
	in, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	defer in.Close() // read only: nothing to lose
	before, ok, err := readMeta(in)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if !ok {
		return &FormatError{Path: source}
	}
	out, err := datafile.OpenFile(copied, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	_, err = io.Copy(out, io.LimitReader(in, int64(before.pages)*int64(before.pageSize)))
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("snapshot: %w: it takes as much room as %s; TMPDIR may name a folder that has it", err, source)
	}
	after, ok, err := readMeta(in)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if !ok || after.txid != before.txid {
		return errWritten
	}
	return nil
}
