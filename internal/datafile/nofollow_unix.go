//go:build unix

package datafile

import "syscall"

const noFollow = syscall.O_NOFOLLOW
