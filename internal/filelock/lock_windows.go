package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is the high half of the offset of the one locked byte. Windows locks forbid others to read what they cover,
// so it lies far behind the process ID.
const lockOffset = 1 << 30

// tryLock locks the file without waiting; held says that someone else has it, or, for a shared lock, has it alone. The
// lock ends with unlock, or when the file is closed.
func tryLock(f *os.File, shared bool) (held bool, err error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags,
		0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	return false, err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
}
