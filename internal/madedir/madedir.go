// Package madedir takes folders away again that were made for nothing.
package madedir

import (
	"os"
	"path/filepath"
)

// Missing are folders that are not there, the innermost first; none if the first is.
type Missing []string

// Look returns a folder that is not there, with those above that are not either.
func Look(dir string) (m Missing) {
	for {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			return m
		}
		m = append(m, dir)
		if dir == filepath.Dir(dir) {
			return m
		}
		dir = filepath.Dir(dir)
	}
}

// Undo removes the innermost folder with all that is in it, and those above that are empty. Whoever calls it must know that
// nobody else has put anything there, as with a lock that it holds. It does nothing if the folder was there from the first.
func (m Missing) Undo() error {
	if len(m) == 0 {
		return nil
	}
	if err := os.RemoveAll(m[0]); err != nil {
		return err
	}
	m[1:].UndoEmpty()
	return nil
}

// UndoEmpty removes the folders as far as they are empty.
func (m Missing) UndoEmpty() {
	for _, dir := range m {
		if os.Remove(dir) != nil { // something is in it, or it was never made
			return
		}
	}
}
