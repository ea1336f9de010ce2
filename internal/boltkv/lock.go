package boltkv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// lockRetry is the pause between two tries to get the lock; bbolt uses the same.
const lockRetry = 50 * time.Millisecond

// lock is the held lock on LOCK. The operating system's lock on the file is the truth, and it ends with its process; the
// process ID in the file only names the holder. The file itself stays: removing it would let two processes lock
// two files of the same name.
type lock struct {
	file  *os.File
	stale bool // the last holder left its process ID: it died
}

// heldError says that another process holds the lock.
type heldError struct{ pid int }

func (e *heldError) Error() string { return fmt.Sprintf("held by process %d", e.pid) }

// takeLock locks the file and writes the process ID into it, waiting up to timeout.
func takeLock(path string, timeout time.Duration) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	l := &lock{file: f}
	if err := l.take(timeout); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *lock) take(timeout time.Duration) error {
	retry, deadline := time.NewTicker(lockRetry), time.NewTimer(timeout)
	defer retry.Stop()
	defer deadline.Stop()
	for {
		held, err := tryLock(l.file)
		if err != nil {
			return fmt.Errorf("lock %s: %w", l.file.Name(), err)
		}
		if !held {
			break
		}
		select {
		case <-retry.C:
		case <-deadline.C:
			return &heldError{pid: l.pid()}
		}
	}
	l.stale = l.pid() != 0
	if err := l.write(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return fmt.Errorf("note the process ID: %w", err) // the cause names the file
	}
	return nil
}

// pid returns the process ID in the file, or 0.
func (l *lock) pid() int {
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

func (l *lock) write(s string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(s), 0)
	return err
}

// release unlocks the file. If all is well it takes the process ID out; otherwise the next process finds it and checks
// every page.
func (l *lock) release(well bool) error {
	var err error
	if well {
		err = l.write("")
	}
	return errors.Join(err, l.file.Close())
}

// syncDir makes a rename durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
