package boltkv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/datafile"
)

// copyBatch is how many bytes of records a transaction of a copy holds at most: what bounds its memory.
const copyBatch = 16 << 20

// copySuffix is behind the name of a copy that is being made. What has it is taken for what a copy that was cut short left,
// and deleted: nobody else calls a file so.
const copySuffix = ".rag-unfinished"

// Compact writes the database anew without the space that deleted records left, and returns how many bytes smaller the
// file became. Reads go on until the new file takes the old one's place, which waits for those that are running; writes
// wait for all of it. Whenever the process dies, the file is whole, the old one or the new one. A file that was not
// written since it was last compacted is left as it is.
func (db *DB) Compact() (freed int64, err error) {
	if db.closed.Load() {
		return 0, ErrClosed
	}
	f := db.file
	f.write.Lock()
	defer f.write.Unlock()
	if f.bolt == nil {
		return 0, ErrClosed
	}
	if d := f.damage.Load(); d != nil {
		return 0, d
	}
	if f.compacted == f.bolt {
		return 0, nil
	}
	before, err := fileSize(f.path)
	if err != nil {
		return 0, err
	}
	tmp := filepath.Join(filepath.Dir(f.path), newName)
	if err := f.writeCopy(tmp); err != nil {
		return 0, fmt.Errorf("compact database: %w", err)
	}
	if err := f.replace(tmp); err != nil {
		return 0, fmt.Errorf("compact database: %w", err)
	}
	f.compacted = f.bolt
	after, err := fileSize(f.path)
	return before - after, err
}

// replace puts a complete database in the place of the open one. If it cannot, the old one is open again.
func (f *file) replace(tmp string) error {
	f.swap.Lock()
	defer f.swap.Unlock()
	leave, _ := f.gate.Pass(false, commitPatience)
	defer leave()
	err := f.guard(f.bolt.Close)
	if err == nil {
		err = settle(tmp, f.path)
	}
	var opened error
	f.bolt, opened = f.openBolt() // nil if it fails: every handle is closed then
	return errors.Join(err, opened)
}

// CopyTo writes a copy of the database as it is now to path, where no file may be, while others go on reading and
// writing. The copy has no free pages and is checked whole. It is on disk when CopyTo returns; if it fails there is none.
func (db *DB) CopyTo(path string) error {
	if db.closed.Load() {
		return ErrClosed
	}
	if err := absent(path); err != nil {
		return err
	}
	db.file.swap.RLock()
	defer db.file.swap.RUnlock()
	if db.file.bolt == nil {
		return ErrClosed
	}
	tmp := path + copySuffix
	if err := db.file.writeCopy(tmp); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return settle(tmp, path)
}

// Restore makes the database of a directory from a copy, which is checked whole before it takes its name. The directory
// is made where it is missing; one that has a database already is an error that matches [os.ErrExist]. Errors of
// the copy are those of [Open]. If it fails, nothing is left that it made.
func Restore(dir, from string) (err error) {
	path := filepath.Join(dir, FileName)
	made, err := makeDirs(dir)
	if err != nil {
		return errors.Join(fmt.Errorf("make data directory: %w", err), removeEmpty(made))
	}
	if absent(filepath.Join(dir, LockName)) == nil {
		made = append(made, filepath.Join(dir, LockName))
	}
	lock, err := takeLock(path)
	if err != nil {
		return err // who holds it is at work here
	}
	defer func() {
		failed := err
		if err = errors.Join(err, lock.Release(true)); failed != nil {
			err = errors.Join(err, removeEmpty(made))
		}
	}()
	if err := absent(path); err != nil {
		return err
	}
	if err := checkFile(from, true); err != nil {
		return err
	}
	tmp := filepath.Join(dir, newName)
	if err := copyFile(tmp, from); err != nil {
		return fmt.Errorf("restore database: %w", errors.Join(err, os.Remove(tmp)))
	}
	db, err := (&file{path: tmp}).openBolt() // reads its format
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	return settle(tmp, path)
}

// makeDirs is [os.MkdirAll], and returns the directories that were missing, outermost first.
func makeDirs(dir string) (made []string, err error) {
	for d := filepath.Clean(dir); absent(d) == nil; d = filepath.Dir(d) {
		made = append([]string{d}, made...)
	}
	return made, os.MkdirAll(dir, datafile.DirMode)
}

// removeEmpty removes files and directories, the last first, as far as they are there and nobody put anything into them.
func removeEmpty(made []string) error {
	for _, path := range slices.Backward(made) {
		if list, err := os.ReadDir(path); err == nil && len(list) > 0 {
			return nil
		}
		if err := removeIfThere(path); err != nil {
			return err
		}
	}
	return nil
}

// writeCopy writes a copy of the open database to path and checks it. If it fails there is no file.
func (f *file) writeCopy(path string) (err error) {
	if err := removeIfThere(path); err != nil {
		return err
	}
	dst, err := openFile(path, bolt.Options{NoSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return errors.Join(err, removeIfThere(path)) // on a full disk it has a name and nothing in it
	}
	dst.AllocSize = 0 // grow by what is needed, not to the next power of two
	err = f.guard(func() error { return bolt.Compact(dst, f.bolt, copyBatch) })
	err = errors.Join(err, dst.Sync(), dst.Close())
	if err == nil {
		err = checkFile(path, true)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// copyFile writes the bytes of one file to another and to disk.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()                          // read only: nothing to lose
	if err := removeIfThere(to); err != nil { // what a crash left, or a link
		return err
	}
	out, err := datafile.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// removeIfThere removes a file that may not exist.
func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// settle gives a complete file its name.
func settle(tmp, path string) error {
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// absent reports a file that is in the way.
func absent(path string) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there already and is not replaced: %w", path, os.ErrExist)
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
