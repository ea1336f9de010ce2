package catalog_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/ragtest"
)

func openBolt(t testing.TB, dir string) *catalog.Bolt {
	t.Helper()
	c, err := catalog.OpenBolt(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBolt(t *testing.T) {
	ragtest.TestCatalog(t, func(t *testing.T, dir string) rag.Catalog { return openBolt(t, dir) })
}

func TestMemory(t *testing.T) {
	ragtest.TestCatalog(t, func(*testing.T, string) rag.Catalog { return catalog.NewMemory() }, ragtest.Volatile())
}

// document is a document of n chunks of about 1 kB, with a picture.
func document(uri string, n int, picture string) rag.Change {
	rec := &rag.Record{
		Entry:    rag.Entry{URI: uri, DocID: uri},
		Document: rag.Document{URI: uri, Text: strings.Repeat("text ", 200*n), Images: []rag.Image{{ID: "x", Data: []byte(picture)}}},
	}
	for i := range n {
		id := fmt.Sprintf("%s#%d", uri, i)
		rec.Entry.Chunks = append(rec.Entry.Chunks, rag.ChunkRef{ID: id, Input: strings.Repeat("0", 64), Index: strings.Repeat("1", 64)})
		rec.Chunks = append(rec.Chunks, rag.Chunk{ID: id, URI: uri, Ordinal: i, Text: strings.Repeat("text ", 200), Headings: []string{"a", "b"},
			Meta: rag.Meta{"lang": "en"}})
	}
	return rag.Change{Put: rec}
}

func commit(t testing.TB, c rag.Catalog, collection string, changes ...rag.Change) {
	t.Helper()
	if err := c.Commit(t.Context(), collection, changes); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsLeftBehind counts what is stored after everything was removed: a picture, chunk or ID without an owner would
// stay for ever.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	c := openBolt(t, dir)
	defer c.Close()
	commit(t, c, "one", document("a", 3, "p"), document("b", 2, "q"), document("a", 1, "q"))
	commit(t, c, "two", document("a", 2, "p"))
	commit(t, c, "one", rag.Change{Remove: "a"}, rag.Change{Remove: "b"})
	if err := c.Drop(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error { return onlyBuckets(t, "", tx.Bucket([]byte("catalog"))) })
	if err != nil {
		t.Fatal(err)
	}
}

func onlyBuckets(t *testing.T, path string, b *bolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		at := path + "/" + string(k)
		if v != nil {
			if at != "/version" {
				t.Errorf("%s is left behind", at)
			}
			return nil
		}
		return onlyBuckets(t, at, b.Bucket(k))
	})
}

func TestReadingChangesNoByte(t *testing.T) {
	dir := t.TempDir()
	c := openBolt(t, dir)
	commit(t, c, "c", document("a", 3, "p"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	sum := func() [32]byte {
		b, err := os.ReadFile(filepath.Join(dir, boltkv.FileName))
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(b)
	}
	before := sum()
	c = openBolt(t, dir)
	if _, err := c.Document(t.Context(), "c", "a"); err != nil {
		t.Fatal(err)
	}
	commit(t, c, "c") // no changes to a known collection
	if err := c.Drop(t.Context(), "unknown"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if sum() != before {
		t.Error("reading changed the file")
	}
}

func TestCorruptedAndNewerFilesAreInvalid(t *testing.T) {
	newer := filepath.Join(t.TempDir(), "newer")
	db, err := boltkv.Open(newer)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("rag")).Put([]byte("format"), []byte("rag.db\x00\x63"))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	garbage := t.TempDir()
	if err := os.WriteFile(filepath.Join(garbage, boltkv.FileName), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for say, dir := range map[string]string{"version 99": newer, "ingest again": garbage} {
		if _, err := catalog.OpenBolt(dir); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), say) {
			t.Errorf("got %v, want ErrInvalid that says %q", err, say)
		}
	}
}

func TestOpenElsewhereIsLocked(t *testing.T) {
	dir := t.TempDir()
	if err := openBolt(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	other, err := bolt.Open(filepath.Join(dir, boltkv.FileName), 0o600, nil) // a program that knows nothing of ours
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := catalog.OpenBolt(dir); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
}

func TestTooLongURI(t *testing.T) {
	c := openBolt(t, t.TempDir())
	defer c.Close()
	err := c.Commit(t.Context(), "c", []rag.Change{document(strings.Repeat("x", 40_000), 1, "p")})
	if !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

func TestRegistered(t *testing.T) {
	for name, env := range map[string]rag.Env{"bolt": {Dir: t.TempDir()}, "memory": {}} {
		c, err := rag.Default.Catalogs.New(name, env, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, isBolt := c.(*catalog.Bolt); isBolt != (name == "bolt") {
			t.Errorf("%s is a %T", name, c)
		}
		if b, ok := c.(*catalog.Bolt); ok {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if c, err := rag.Default.Catalogs.New("bolt", rag.Env{}, nil); err != nil {
		t.Error(err)
	} else if _, ok := c.(*catalog.Memory); !ok {
		t.Errorf("bolt without a directory is a %T, want *catalog.Memory", c)
	}
}

func BenchmarkChunks(b *testing.B) {
	c := openBolt(b, b.TempDir())
	defer c.Close()
	var ids []string
	for i := range 100 {
		uri := fmt.Sprintf("doc%d", i)
		commit(b, c, "c", document(uri, 50, uri))
		ids = append(ids, uri+"#7")
	}
	for b.Loop() {
		if got, err := c.Chunks(b.Context(), "c", ids); err != nil || len(got) != len(ids) {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkEntryOf2000Chunks(b *testing.B) {
	c := openBolt(b, b.TempDir())
	defer c.Close()
	commit(b, c, "c", document("a", 2000, "p"))
	for b.Loop() {
		if _, err := c.Entry(b.Context(), "c", "a"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommitOf50Chunks(b *testing.B) {
	c := openBolt(b, b.TempDir())
	defer c.Close()
	for b.Loop() {
		commit(b, c, "c", document("a", 50, "p"))
	}
}

// Two handles on one file: what one commits, the other counts.
func TestCollectionsCountsWhatAnotherHandleCommitted(t *testing.T) {
	dir := t.TempDir()
	first, second := openBolt(t, dir), openBolt(t, dir)
	for n := range 3 {
		if infos, err := first.Collections(t.Context()); err != nil || n > 0 && infos[0].Documents != n {
			t.Fatalf("after %d commits: %+v, %v", n, infos, err)
		}
		uri := fmt.Sprintf("mem:///%d", n)
		put := rag.Change{Put: &rag.Record{Entry: rag.Entry{URI: uri, DocID: uri}, Document: rag.Document{ID: uri, URI: uri}}}
		if err := second.Commit(t.Context(), "c", []rag.Change{put}); err != nil {
			t.Fatal(err)
		}
	}
}
