package vectorstore

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/datafile"
	"github.com/seed-d8745b77/rag/internal/hnsw"
)

// A snapshot is what of a collection lies in memory, in a file that is written as a whole: <dir>/hnsw/<name>.snapshot.
// It names the generation it was taken at, and is a cache: without it everything is made from the records.
// docs/formats.md describes it.

const (
	snapshotFolder    = "hnsw"
	snapshotExtension = ".snapshot"
	snapshotMagic     = "rag.hnsw"
	snapshotVersion   = 1 // of its records
)

// A snapshot is written at closing if more than one in closeShare records has changed since the last, and at a change if
// more than one in changeShare has: reading the changes after it costs as much as linking them did.
const (
	closeShare  = 256
	changeShare = 2
)

// snapshotFiles keeps two stores on one directory from sweeping away what the other is writing.
var snapshotFiles sync.Mutex

// snapshotPath is where a collection's snapshot lies; the name may hold what a file's name may not.
func (s *store) snapshotPath(collection string) string {
	return filepath.Join(s.dir, snapshotFolder, snapshotName(collection))
}

func snapshotName(collection string) string {
	sum := sha256.Sum256([]byte(collection))
	return hex.EncodeToString(sum[:12]) + snapshotExtension
}

// checkFolder is ErrInvalid where the folder of snapshots is a link: files are replaced and removed in it.
func checkFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := datafile.NoLink(filepath.Join(dir, snapshotFolder)); err != nil {
		return fmt.Errorf("hnsw: %w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// sweepSnapshots removes what belongs to no collection: another store may have dropped it. Nothing depends on it.
func (s *store) sweepSnapshots() {
	if s.db == nil {
		return
	}
	snapshotFiles.Lock()
	defer snapshotFiles.Unlock()
	files, err := os.ReadDir(filepath.Join(s.dir, snapshotFolder))
	if err != nil || len(files) == 0 {
		return
	}
	known := map[string]bool{}
	err = s.db.View(func(tx *bolt.Tx) error {
		names, err := storedNames(tx)
		for _, name := range names {
			known[snapshotName(name)] = true
		}
		return err
	})
	if err != nil {
		return
	}
	for _, f := range files {
		if !known[f.Name()] && strings.Contains(f.Name(), snapshotExtension) {
			_ = os.Remove(filepath.Join(s.dir, snapshotFolder, f.Name()))
		}
	}
}

// removeSnapshot removes a collection's snapshot, if there is one.
func (s *store) removeSnapshot(collection string) error {
	if s.db == nil || s.tuning == nil {
		return nil
	}
	if err := os.Remove(s.snapshotPath(collection)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove snapshot: %w", err)
	}
	return nil
}

// stale reports whether the graph has changed by more than one in share records since it was last saved.
func (c *collection) stale(share int) bool {
	return c.graph != nil && c.links.changed > c.slots.n/share
}

// save writes a snapshot of a graph that is up to date, where there is a file. The caller holds s.write.
func (s *store) save(c *collection) error {
	if s.db == nil {
		c.links.changed = 0
		return nil
	}
	if err := s.writeSnapshot(c); err != nil {
		return fmt.Errorf("snapshot of collection %q: %w", c.name, err)
	}
	c.links.changed, c.links.damage = 0, ""
	return kind(s.db.Update(func(tx *bolt.Tx) error {
		b, _, err := stored(tx, c.name)
		if b == nil || err != nil {
			return err
		}
		return restartLog(b, c.gen)
	}))
}

// writeSnapshot replaces the file: a reader finds the old or the new one, whole.
func (s *store) writeSnapshot(c *collection) (err error) {
	snapshotFiles.Lock()
	defer snapshotFiles.Unlock()
	path := s.snapshotPath(c.name)
	if err := datafile.MakeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	out := bufio.NewWriterSize(f, 1<<20)
	err = c.encode(out, s.tuning.graph)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// copyGraphs copies the snapshots of a directory into another one, so that graphs need not be built there. One that another
// process replaces meanwhile may be newer than the records are, and is not used then.
func copyGraphs(from, to string) error {
	err := os.CopyFS(filepath.Join(to, snapshotFolder), os.DirFS(filepath.Join(from, snapshotFolder)))
	if errors.Is(err, fs.ErrNotExist) { // there are none, or one was removed on the way
		return nil
	}
	return err
}

// encode writes a snapshot: three records, the vectors, the graph.
func (c *collection) encode(out io.Writer, g hnsw.Config) error {
	if _, err := io.WriteString(out, snapshotMagic); err != nil {
		return err
	}
	for _, w := range []*record.Writer{c.head(g), c.slots.encode(), c.fields.encode()} {
		rec, err := w.Finish()
		if err != nil {
			return err
		}
		if err := binary.Write(out, binary.BigEndian, uint64(len(rec))); err != nil {
			return err
		}
		if _, err := out.Write(rec); err != nil {
			return err
		}
	}
	if _, err := c.vectors.WriteTo(out); err != nil {
		return err
	}
	_, err := c.graph.WriteTo(out)
	return err
}

// identity is what must agree between a snapshot and the collection that is read from it: one made with other settings is
// not used.
func (c *collection) identity(g hnsw.Config) string {
	return fmt.Sprintf("%q/%d/%s/m%d/ef%d/seed%d", c.name, c.dims, c.vectors.Kind(), g.M, g.EfConstruction, g.Seed)
}

// head says what the snapshot is of.
func (c *collection) head(g hnsw.Config) *record.Writer {
	w := record.NewWriter(snapshotVersion, 256)
	w.String(c.identity(g))
	w.Uint(c.gen)
	r := c.links.recall
	w.Int(r.K)
	w.Int(r.Sampled)
	w.Float64(r.Value)
	w.Int(r.Records)
	w.Int(r.Unreachable)
	w.Strings(r.Problems)
	return w
}
