//go:build !unix

package rag

// dontWait is nothing where files are no pipes.
const dontWait = 0
