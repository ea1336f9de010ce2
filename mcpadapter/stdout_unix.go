//go:build unix

package mcpadapter

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// TakeStdout returns the standard output for the protocol alone and points file descriptor 1 at the standard error, so that
// whatever else is printed, also by C code and child processes, cannot come between messages. Call it first of all. A host
// that is gone does not kill the process at its next line of a log: its input has ended too, and it ends in good order.
func TakeStdout() (*os.File, error) {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // writing fails instead
	fd, err := unix.Dup(1)
	if err != nil {
		return nil, fmt.Errorf("take the standard output: %w", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.Dup2(2, 1); err != nil {
		return nil, fmt.Errorf("take the standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}
