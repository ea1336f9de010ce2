//go:build !windows

package remedy

import "syscall"

// Errors of the system by what to do about them. A quota and a limit on the size of files (ulimit -f) are full disks too.
var (
	full     = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	tooMany  = []error{syscall.EMFILE, syscall.ENFILE}
	readOnly = []error{syscall.EROFS}
)
