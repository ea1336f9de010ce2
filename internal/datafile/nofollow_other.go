//go:build !unix

package datafile

// noFollow is nothing where there is no such flag: what becomes a link between look and open is followed.
const noFollow = 0
