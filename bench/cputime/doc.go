// Package cputime tells the benchmarks how much processor time they use, which a busy machine changes least.
package cputime
