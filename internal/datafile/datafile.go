// Package datafile opens and makes what lies in a data folder without following links. A folder may come from elsewhere, out
// of an archive or shared by others, and a link in it would let what is written there change files anywhere. The data folder
// itself may be a link: its user names it.
//
//	f, err := datafile.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
package datafile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Rights of what is made: files and folders hold what documents say and what people asked.
const (
	FileMode = fs.FileMode(0o600)
	DirMode  = fs.FileMode(0o700)
)

// LinkError says that a file or folder of a data folder is a link.
type LinkError struct{ Path string }

// Error names the link and says what to do.
func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a link, and links in a data folder are not followed: put the file or folder itself in its place, "+
		"or move the whole data folder and link that", e.Path)
}

// NoLink is a [LinkError] if path itself is a link, of whatever kind the system has. What is not there is none.
func NoLink(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0: // junctions of Windows are irregular
		return &LinkError{path}
	}
	return nil
}

// OpenFile is [os.OpenFile] for a file of a data folder: a link is a [LinkError]. The folder that it lies in is not
// looked at. One that is made is its owner's alone.
func OpenFile(path string, flag int) (*os.File, error) {
	if err := NoLink(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flag|noFollow, FileMode) // noFollow: it may have become a link just now
}

// Open opens a file of a data folder for reading.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY) }

// MakeFolder makes a folder of a data folder, and those above it, where they are missing, for their owner alone. One that is a
// link is a [LinkError].
func MakeFolder(path string) error {
	if err := NoLink(path); err != nil {
		return err
	}
	return os.MkdirAll(path, DirMode)
}
