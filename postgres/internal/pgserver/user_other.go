//go:build !unix

package pgserver

import (
	"os"
	"os/exec"
)

// endSignal asks a process to end.
var endSignal = os.Interrupt

func giveToServer(string) error { return nil }

func asServer(cmd *exec.Cmd) *exec.Cmd { return cmd }
