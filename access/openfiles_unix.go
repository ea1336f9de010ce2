//go:build unix

package access

import (
	"math"
	"syscall"
)

// openFiles is how many files the process may have open; 0 where the system does not tell.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return int(min(uint64(l.Cur), math.MaxInt32)) //nolint:unconvert // signed on FreeBSD
}
