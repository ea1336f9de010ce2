//go:build !unix

package main

import "time"

var started = time.Now()

// cpu returns the time since the start: there is no processor time to be had.
func cpu() time.Duration { return time.Since(started) }
