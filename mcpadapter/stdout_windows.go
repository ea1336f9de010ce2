package mcpadapter

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TakeStdout returns the standard output for the protocol alone and makes the standard error take its place, so that
// whatever else is printed cannot come between messages. Call it first of all.
func TakeStdout() (*os.File, error) {
	out := os.Stdout
	os.Stdout = os.Stderr
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("take the standard output: %w", err)
	}
	return out, nil
}
