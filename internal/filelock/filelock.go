// Package filelock keeps other processes out by a locked file that names its holder.
//
//	lock, err := filelock.Take(path, 2*time.Second)
//	...
//	defer lock.Release(true)
package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/datafile"
)

// lockRetry is the pause between two tries to get the lock; bbolt uses the same.
const lockRetry = 50 * time.Millisecond

// Lock is a lock that is held. The operating system's lock on the file is the truth, and it ends with its process; the
// process ID in the file only names the holder. The file itself stays: removing it would let two processes lock
// two files of the same name.
type Lock struct {
	file  *os.File
	stale bool // the last holder left its process ID
}

// HeldError says that another holds the lock: another process, or another place in this one.
type HeldError struct {
	PID int // of the holder; 0 if it left none
}

func (e *HeldError) Error() string { return fmt.Sprintf("held by process %d", e.PID) }

// Take locks the file, which it makes if there is none, and writes the process ID into it, waiting up to timeout. It is
// a [HeldError] if another has it still, and an error where the file is a link: what it leads to is not touched. On systems without such locks it always succeeds.
func Take(path string, timeout time.Duration) (*Lock, error) {
	f, err := datafile.OpenFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	l := &Lock{file: f}
	if err := l.take(timeout); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Lock) take(timeout time.Duration) error {
	switch held, err := waitLock(l.file, false, lockRetry, timeout); {
	case err != nil:
		return fmt.Errorf("lock %s: %w", l.file.Name(), err)
	case held:
		return &HeldError{PID: l.pid()}
	}
	l.stale = l.pid() != 0
	if err := l.write(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return fmt.Errorf("note the process ID: %w", err) // the cause names the file
	}
	return nil
}

// waitLock tries to lock the file until patience is over, with a pause between two tries; held says that someone else has
// it still.
func waitLock(f *os.File, shared bool, pause, patience time.Duration) (held bool, err error) {
	held, err = tryLock(f, shared)
	if !held || err != nil { // nearly always
		return held, err
	}
	retry, deadline := time.NewTicker(pause), time.NewTimer(patience)
	defer retry.Stop()
	defer deadline.Stop()
	for held && err == nil {
		select {
		case <-retry.C:
			held, err = tryLock(f, shared)
		case <-deadline.C:
			return true, nil
		}
	}
	return held, err
}

// pid returns the process ID in the file, or 0.
func (l *Lock) pid() int {
	var buf [32]byte
	n, err := l.file.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return 0
	}
	return pid
}

func (l *Lock) write(s string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(s), 0)
	return err
}

// Stale reports whether the last holder left its process ID: it died, or all was not well.
func (l *Lock) Stale() bool { return l.stale }

// Release unlocks the file. If all is well it takes the process ID out; otherwise the next holder finds it.
func (l *Lock) Release(well bool) error {
	var err error
	if well {
		err = l.write("")
	}
	return errors.Join(err, l.file.Close())
}
