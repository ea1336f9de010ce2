//go:build unix

package rag

import "syscall"

// dontWait makes opening a pipe return at once instead of waiting for a writer. Other files do not mind.
const dontWait = syscall.O_NONBLOCK
