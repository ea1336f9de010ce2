package boltkv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// fill commits numbers and takes most of them out again; the counter and 50 records stay.
func fill(t testing.TB, db *boltkv.DB, commits int) {
	t.Helper()
	for range commits {
		if _, err := commitNext(db); err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("numbers"))
		var old [][]byte
		last := counter(b) * 50
		for i := range last {
			if key := []byte{0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i)}; b.Get(key) != nil {
				old = append(old, key)
			}
		}
		for _, key := range old {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		if err := b.SetSequence(77); err != nil {
			return err
		}
		return b.Put([]byte("empty"), []byte{})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dump lists all that a database holds, sequences too.
func dump(t testing.TB, db *boltkv.DB) (all string) {
	t.Helper()
	err := db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			all += fmt.Sprintf("%s %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				all += fmt.Sprintf("%x %d %v\n", k, len(v), v == nil)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCompactShrinksTheFileAndKeepsWhatIsInIt(t *testing.T) {
	dir := t.TempDir()
	db, second := open(t, dir), open(t, dir)
	fill(t, db, 60)
	before, size := dump(t, db), len(content(t, dir))
	freed, err := db.Compact()
	if err != nil {
		t.Fatal(err)
	}
	if after := len(content(t, dir)); int64(size-after) != freed || after > size/5 {
		t.Errorf("%d bytes before, %d after, %d freed", size, after, freed)
	}
	for _, handle := range []*boltkv.DB{db, second} {
		if got := dump(t, handle); got != before {
			t.Errorf("got\n%s\nwant\n%s", got, before)
		}
	}
	bytesOf := fileBytes(t, dir)
	if freed, err := second.Compact(); freed != 0 || err != nil || fileBytes(t, dir) != bytesOf {
		t.Errorf("compacting again: %d, %v", freed, err)
	}
	put(t, second, "x", "k", []byte("v"))
	if err := errors.Join(db.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if got := get(t, open(t, dir), "x", "k"); got != "v" {
		t.Errorf("got %q after a write to the compacted file, want v", got)
	}
}

func TestCompactBesideReadersAndWriters(t *testing.T) {
	db := open(t, t.TempDir())
	fill(t, db, 5)
	done := make(chan error, 2)
	stop := make(chan struct{})
	again := func(do func() error) {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if err := do(); err != nil {
					done <- err
					return
				}
			}
		}
	}
	go again(func() error { _, err := commitNext(db); return err })
	go again(func() error {
		return db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("numbers"))
			for i := range uint64(50) {
				if n := counter(b)*50 + i; counter(b) > 5 && len(b.Get([]byte{0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n)})) != 1500 {
					return fmt.Errorf("record %d is not there", n)
				}
			}
			return nil
		})
	})
	for range 20 {
		if _, err := db.Compact(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
	}
}

func TestCompactOfAClosedOrDamagedFile(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Compact(); !errors.Is(err, boltkv.ErrClosed) {
		t.Errorf("closed: %v, want ErrClosed", err)
	}
	if err := db.CopyTo(filepath.Join(dir, "copy")); !errors.Is(err, boltkv.ErrClosed) {
		t.Errorf("copy of a closed one: %v, want ErrClosed", err)
	}
}

func TestLeftoverOfACompactIsRemoved(t *testing.T) {
	dir := t.TempDir()
	put(t, open(t, dir), "x", "k", []byte("v"))
	left := filepath.Join(t.TempDir(), boltkv.FileName)
	if err := os.WriteFile(left, content(t, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Dir(left)
	if err := os.WriteFile(left+".new", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := get(t, open(t, other), "x", "k"); got != "v" {
		t.Errorf("got %q, want v", got)
	}
	if _, err := os.Stat(left + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rag.db.new is still there (%v)", err)
	}
}

func TestCopyDeletesNoFileOfAnother(t *testing.T) {
	db := open(t, t.TempDir())
	fill(t, db, 2)
	file := filepath.Join(t.TempDir(), "backup")
	mine, left := file+".new", file+".rag-unfinished"
	for _, name := range []string{mine, left} {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CopyTo(file); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(mine); string(b) != "text" {
		t.Errorf("a file beside the copy holds %q (%v)", b, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what an earlier copy left is still there (%v)", err)
	}
}

func TestCopyAndRestore(t *testing.T) {
	db := open(t, t.TempDir())
	fill(t, db, 10)
	want := dump(t, db)
	file := filepath.Join(t.TempDir(), "backup")
	if err := db.CopyTo(file); err != nil {
		t.Fatal(err)
	}
	put(t, db, "later", "k", nil)
	if err := db.CopyTo(file); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second copy to the same name: %v, want ErrExist", err)
	}
	dir := filepath.Join(t.TempDir(), "new", "data")
	if err := boltkv.Restore(dir, file); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, open(t, dir)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := boltkv.Restore(t.TempDir(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("restore of no file: %v, want ErrNotExist", err)
	}
}

func TestRestoreRefusesWhatItMust(t *testing.T) {
	used, locked := t.TempDir(), t.TempDir()
	db := open(t, used)
	fill(t, db, 5)
	file := filepath.Join(t.TempDir(), "backup")
	if err := db.CopyTo(file); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	openChild(t, "hold", locked)
	foreign := bytes.Replace(good, []byte("rag.db\x00"), []byte("rag.db\x01"), 1)
	for name, c := range map[string]struct {
		dir  string
		file []byte
		want error
	}{
		"a directory in use":      {used, good, os.ErrExist},
		"a locked directory":      {locked, good, boltkv.ErrLocked},
		"half a file":             {t.TempDir(), good[:len(good)/2], boltkv.ErrDamaged},
		"no database":             {t.TempDir(), bytes.Repeat([]byte("text "), 9000), boltkv.ErrDamaged},
		"another program's":       {t.TempDir(), foreign, boltkv.ErrFormat},
		"noise behind the header": {t.TempDir(), append(bytes.Clone(good[:8192]), bytes.Repeat([]byte{0xA5}, len(good)-8192)...), boltkv.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			had := dirNames(t, c.dir)
			if err := boltkv.Restore(c.dir, file); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if got := dirNames(t, c.dir); got != had {
				t.Errorf("the directory holds %q, before: %q", got, had)
			}
			if c.dir == used || c.dir == locked {
				return
			}
			parent := t.TempDir()
			if err := boltkv.Restore(filepath.Join(parent, "new", "data"), file); !errors.Is(err, c.want) {
				t.Errorf("into a new directory: got %v, want %v", err, c.want)
			}
			if got := dirNames(t, parent); got != "" {
				t.Errorf("a directory was made: %q", got)
			}
		})
	}
}

func content(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dirNames(t *testing.T, dir string) (names string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names += e.Name() + " "
	}
	return names
}

func TestAFileThatCompactCannotOpenAgainIsNotKeptLocked(t *testing.T) {
	dir := t.TempDir()
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, 3)
	before := dump(t, db)
	boltkv.OnOpen = func(opened *bolt.DB) {
		if filepath.Base(opened.Path()) == boltkv.FileName {
			_ = opened.Close() // so that its format cannot be read; it returns nil
		}
	}
	_, err = db.Compact()
	boltkv.OnOpen = nil
	if err == nil {
		t.Fatal("the file could not be opened again, and Compact tells nothing")
	}
	if err := db.View(func(*bolt.Tx) error { return nil }); !errors.Is(err, boltkv.ErrClosed) {
		t.Errorf("a read gave %v, want ErrClosed", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if after := dump(t, open(t, dir)); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
}
