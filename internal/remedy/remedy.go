// Package remedy says what to do about errors of the operating system: a full disk, too few file descriptors, a folder that
// may not be written.
package remedy

import (
	"errors"
	"io/fs"
	"slices"
)

// What is to be done about each. A data folder keeps what was committed before, so that the same call, made again, goes on.
const (
	room  = "make room on the disk, then do it again: what was written before is whole"
	files = "let the process open more files (ulimit -n)"
	right = "let this user write to the folder, or read a snapshot of it"
)

// Of adds to an error what to do about it, where the disk is full or too many files are open. Other errors, and those that
// tell it already, stay as they are.
func Of(err error) error {
	switch {
	case err == nil || errors.As(err, new(*told)):
		return err
	case isOne(err, full):
		return &told{err, room}
	case isOne(err, tooMany):
		return &told{err, files}
	}
	return err
}

// Short reports whether the cause of an error is a full disk or too many open files: that of the machine, not of what it was
// asked.
func Short(err error) bool { return isOne(err, full) || isOne(err, tooMany) }

// OfFolder is Of for the error of opening a data folder to write to it, and says also what to do where it may not be written.
func OfFolder(err error) error {
	if err == nil || errors.As(err, new(*told)) || !isOne(err, readOnly) && !errors.Is(err, fs.ErrPermission) {
		return Of(err)
	}
	return &told{err, right}
}

func isOne(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// told is an error with what to do about it.
type told struct {
	error
	todo string
}

// Error returns "cause: what to do".
func (t *told) Error() string { return t.error.Error() + ": " + t.todo }

// Unwrap returns the cause.
func (t *told) Unwrap() error { return t.error }
