package boltkv_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

func fileBytes(t testing.TB, dir string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

func write(t testing.TB, dir string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, boltkv.FileName), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sample returns a database of a few hundred pages: nested, inline and large buckets, large values, free pages.
func sample(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir)
	for batch := range 10 {
		err := db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("records"))
			if err != nil {
				return err
			}
			for i := range 30 {
				i += 30 * batch
				if err := b.Put(fmt.Appendf(nil, "key%06d", i), sealed(t, bytes.Repeat([]byte{byte(i)}, 200+i))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, db, "large", "value", sealed(t, bytes.Repeat([]byte("large"), 20_000)))
	put(t, db, "small", "value", sealed(t, []byte("small")))
	err := db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("records"))
		for i := range 100 {
			if err := b.Delete(fmt.Appendf(nil, "key%06d", 3*i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sealed(t testing.TB, b []byte) []byte {
	t.Helper()
	w := record.NewWriter(1, len(b))
	w.Raw(b)
	rec, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// readAll opens the database and reads every record.
func readAll(dir string) (records int, err error) {
	db, err := boltkv.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return records, db.View(func(tx *bolt.Tx) error {
		for _, name := range []string{"records", "large", "small"} {
			b := tx.Bucket([]byte(name))
			if b == nil {
				return fmt.Errorf("bucket %s: %w", name, record.ErrDamaged)
			}
			err := b.ForEach(func(_, v []byte) error {
				records++
				_, _, err := record.Open(v, 1)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func TestRefusedFilesStayAsTheyAre(t *testing.T) {
	good := sample(t)
	foreign := filepath.Join(t.TempDir(), "foreign")
	db, err := bolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	foreignBytes, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.ReplaceAll(good, []byte("rag.db\x00\x01"), []byte("rag.db\x00\x02"))
	for name, c := range map[string]struct {
		file []byte
		want error
		say  string
	}{
		"newer version": {newer, boltkv.ErrFormat, "version 2"},
		"foreign":       {foreignBytes, boltkv.ErrFormat, "not written by rag"},
		"empty":         {nil, boltkv.ErrDamaged, "empty"},
		"garbage":       {bytes.Repeat([]byte("garbage "), 8000), boltkv.ErrDamaged, "header"},
		"short garbage": {[]byte("x"), boltkv.ErrDamaged, "header"},
		"cut to a page": {good[:4096], boltkv.ErrDamaged, "cut short"},
		"cut in half":   {good[:len(good)/2], boltkv.ErrDamaged, "cut short"},
		"zeroed middle": {append(append(bytes.Clone(good[:8192]), make([]byte, len(good)/2)...), good[8192+len(good)/2:]...), boltkv.ErrDamaged, "restore it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.file)
			before := fileBytes(t, dir)
			_, err := readAll(dir)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want %v that names the file and says %q", err, c.want, c.say)
			}
			if fileBytes(t, dir) != before {
				t.Error("the file was changed")
			}
		})
	}
}

// TestDamageAnywhere writes noise over each page in turn, and flips random bits: what comes out is all records or a
// DamagedError, never a panic, and the file stays as it is.
func TestDamageAnywhere(t *testing.T) {
	good := sample(t)
	dir := t.TempDir()
	write(t, dir, good)
	want, err := readAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	check := func(t *testing.T, what string, bad []byte) {
		t.Helper()
		write(t, dir, bad)
		before := fileBytes(t, dir)
		got, err := readAll(dir)
		switch {
		case fileBytes(t, dir) != before:
			t.Errorf("%s: the file was changed", what)
		case errors.Is(err, boltkv.ErrDamaged) || errors.Is(err, boltkv.ErrFormat):
		case err != nil:
			t.Errorf("%s: %v is not a DamagedError", what, err)
		case got != want && !strings.HasPrefix(what, "page 0") && !strings.HasPrefix(what, "page 1"):
			t.Errorf("%s: %d records, want %d or an error", what, got, want)
		}
	}
	const pageSize = 4096
	for page := range len(good) / pageSize {
		bad := bytes.Clone(good)
		for i := range pageSize {
			bad[page*pageSize+i] = byte(rnd.Uint32())
		}
		check(t, fmt.Sprintf("page %d: noise", page), bad)
	}
	for range 500 {
		bad := bytes.Clone(good)
		// Page headers and entries are where a flip hurts bbolt most: aim at the first 64 bytes of a page.
		page, at, bit := rnd.IntN(len(good)/pageSize), rnd.IntN(64), rnd.IntN(8)
		bad[page*pageSize+at] ^= 1 << bit
		check(t, fmt.Sprintf("page %d: byte %d bit %d", page, at, bit), bad)
	}
}

func TestTornMetaPageIsTheStateBefore(t *testing.T) {
	dir := t.TempDir()
	good := sample(t)
	for page := range 2 {
		torn := bytes.Clone(good)
		copy(torn[page*4096+30:], "torn torn torn torn")
		write(t, dir, torn)
		if n, err := readAll(dir); err != nil || n < 200 {
			t.Errorf("meta page %d torn: %d records, %v", page, n, err)
		}
	}
}

// TestDamageWhileOpen damages the file behind bbolt's back: the mapped memory changes, or is gone.
func TestDamageWhileOpen(t *testing.T) {
	read := func(db *boltkv.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("records")).ForEach(func(_, v []byte) error {
				_, _, err := record.Open(v, 1)
				return err
			})
		})
	}
	for name, damage := range map[string]func(f *os.File, size int64) error{
		"noise": func(f *os.File, size int64) error {
			_, err := f.WriteAt(bytes.Repeat([]byte{0xA5}, int(size)-8192), 8192)
			return err
		},
		"cut": func(f *os.File, _ int64) error { return f.Truncate(8192) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			good := sample(t)
			write(t, dir, good)
			db := open(t, dir)
			f, err := os.OpenFile(filepath.Join(dir, boltkv.FileName), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := damage(f, int64(len(good))); err != nil {
				t.Skip("this system does not allow it:", err)
			}
			if err := read(db); !errors.Is(err, boltkv.ErrDamaged) {
				t.Errorf("read: %v, want ErrDamaged", err)
			}
			if err := db.Update(func(*bolt.Tx) error { return nil }); !errors.Is(err, boltkv.ErrDamaged) {
				t.Errorf("write after damage was seen: %v, want ErrDamaged", err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

var (
	nilMap     map[string]int
	nilPointer *int
)

func TestOwnPanicsPassThrough(t *testing.T) {
	db := open(t, t.TempDir())
	for name, fn := range map[string]func(*bolt.Tx) error{
		"value":       func(*bolt.Tx) error { panic("mine") },
		"nil map":     func(*bolt.Tx) error { nilMap["a"] = 1; return nil },
		"nil pointer": func(*bolt.Tx) error { *nilPointer = 1; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = db.View(fn)
		})
	}
	put(t, db, "x", "k", []byte("still works"))
}

// BenchmarkOpen measures the check of every page: 60 MiB of records as a chunk has them.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	db := open(b, dir)
	for i := range 400 {
		err := db.Update(func(tx *bolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("x"))
			if err != nil {
				return err
			}
			bucket.FillPercent = boltkv.SequentialFill
			for j := range 75 {
				if err := bucket.Put(fmt.Appendf(nil, "%09d", i*75+j), make([]byte, 1800)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db := open(b, dir)
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
