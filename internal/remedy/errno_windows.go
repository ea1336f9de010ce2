package remedy

import "syscall"

// Errors of the system by what to do about them, by the numbers of winerror.h: ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL,
// ERROR_TOO_MANY_OPEN_FILES, ERROR_WRITE_PROTECT.
var (
	full     = []error{syscall.Errno(39), syscall.Errno(112)}
	tooMany  = []error{syscall.Errno(4)}
	readOnly = []error{syscall.Errno(19)}
)
