//go:build unix

package main

import "golang.org/x/sys/unix"

// cpuSeconds is what this process has used, of user and system time.
func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	const nanosecond = 1e-9
	return float64(u.Utime.Nano()+u.Stime.Nano()) * nanosecond
}
