package boltkv

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// FuzzWalk feeds the walker pages of any content behind a header that is right: no panic, no endless walk.
func FuzzWalk(f *testing.F) {
	dir := f.TempDir()
	db, err := Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		for i := range 3 {
			if err := b.Put([]byte{byte(i)}, bytes.Repeat([]byte{1}, 3000)); err != nil {
				return err
			}
		}
		_, err = b.CreateBucket([]byte("inline"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		f.Fatal(err)
	}
	m, ok, err := readMeta(bytes.NewReader(good))
	if !ok || err != nil {
		f.Fatal(ok, err)
	}
	if reason, err := damageIn(bytes.NewReader(good), int64(len(good)), true); reason != "" || err != nil {
		f.Fatalf("a good file: %q, %v", reason, err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := damageIn(bytes.NewReader(b), int64(len(b)), true); err != nil && !errors.Is(err, errNotOurs) {
			t.Errorf("reading bytes in memory: %v", err)
		}
		m := m
		m.pages = min(m.pages, uint64(len(b)/m.pageSize))
		w := newWalker(bytes.NewReader(b), m)
		err := w.freelist()
		if err == nil {
			err = w.all()
		}
		var bad pageError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%v is no pageError", err)
		}
	})
}
