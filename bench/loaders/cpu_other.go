//go:build !unix

package main

// cpuSeconds is 0: only wall times count on this system.
func cpuSeconds() float64 { return 0 }
