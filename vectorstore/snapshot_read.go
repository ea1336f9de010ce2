package vectorstore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// errOutdated says that a snapshot is whole, and not of the collection as it is set up and stored now.
var errOutdated = errors.New("the snapshot is outdated")

// restore reads a collection from its snapshot and what was written after it. It returns nil where that is not possible,
// and says what is wrong with the file if it is damaged.
func (s *store) restore(name string, b *bolt.Bucket, h header) (c *collection, damage string) {
	if s.tuning == nil {
		return nil, ""
	}
	f, err := os.Open(s.snapshotPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err == nil {
		defer f.Close()
		c, err = s.readSnapshot(f, name, b, h)
	}
	switch {
	case err == nil:
		return c, ""
	case errors.Is(err, errOutdated):
		return nil, ""
	}
	return nil, fmt.Sprintf("the snapshot could not be read: %v", err)
}

func (s *store) readSnapshot(f io.Reader, name string, b *bolt.Bucket, h header) (*collection, error) {
	c, err := newCollection(name, h.dims, s.kind)
	if err != nil {
		return nil, err
	}
	var changes []change
	if err = c.decode(bufio.NewReaderSize(f, 1<<20), s.tuning.graph, func() (err error) {
		changes, err = changesSince(b, c.gen, h.gen)
		return err
	}); err == nil {
		err = c.catchUp(b.Bucket(recordsBucket), changes, h.gen)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// decode is the inverse of encode. It asks whether to go on once it knows the generation.
func (c *collection) decode(in io.Reader, g hnsw.Config, goOn func() error) error {
	if err := readMagic(in); err != nil {
		return err
	}
	for _, read := range []func(*record.Reader) error{
		func(r *record.Reader) error {
			var err error
			var identity string
			if identity, c.gen, c.links.recall, err = readHead(r); err != nil {
				return err
			}
			if identity != c.identity(g) {
				return errOutdated
			}
			return goOn()
		},
		c.slots.decode,
		func(r *record.Reader) error { return c.fields.decode(r, c.slots.count()) },
	} {
		r, err := readSection(in)
		if err == nil {
			err = read(r)
		}
		if err != nil {
			return err
		}
	}
	vectors, err := slab.Read(in)
	if err != nil {
		return err
	}
	empty := c.vectors
	c.vectors = vectors
	if err := empty.Close(); err != nil {
		return err
	}
	if c.vectors.Dims() != c.dims || c.vectors.Len() < c.slots.count() {
		return fmt.Errorf("%d vectors of %d dimensions: %w", c.vectors.Len(), c.vectors.Dims(), record.ErrDamaged)
	}
	c.links.graph, err = hnsw.Read(in, c.vectors, g)
	return err
}

func readSection(in io.Reader) (*record.Reader, error) {
	var n uint64
	if err := binary.Read(in, binary.BigEndian, &n); err != nil {
		return nil, err
	}
	rec, err := io.ReadAll(io.LimitReader(in, int64(min(n, math.MaxInt64)))) // a damaged length takes no more than there is
	if err != nil {
		return nil, err
	}
	r, _, err := record.Open(rec, snapshotVersion)
	return r, err
}

func readMagic(in io.Reader) error {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != snapshotMagic {
		return fmt.Errorf("it begins with %q: %w", magic, record.ErrDamaged)
	}
	return nil
}

func readHead(r *record.Reader) (identity string, gen uint64, recall rag.Recall, err error) {
	identity, gen = r.String(), r.Uint()
	recall = rag.Recall{
		K: r.Int(), Sampled: r.Int(), Value: r.Float64(), Records: r.Int(), Unreachable: r.Int(), Problems: r.Strings(),
	}
	return identity, gen, recall, r.Close()
}

// snapshotRecall reads only what was measured; the zero value where that cannot be read.
func (s *store) snapshotRecall(collection string) rag.Recall {
	f, err := os.Open(s.snapshotPath(collection))
	if err != nil {
		return rag.Recall{}
	}
	defer f.Close()
	if err := readMagic(f); err != nil {
		return rag.Recall{}
	}
	r, err := readSection(f)
	if err != nil {
		return rag.Recall{}
	}
	_, _, recall, err := readHead(r)
	if err != nil {
		return rag.Recall{}
	}
	return recall
}

// catchUp brings what was read from a snapshot up to date. The graph is linked later, see links.
func (c *collection) catchUp(records *bolt.Bucket, changes []change, gen uint64) error {
	touched := map[uint64]bool{}
	for _, ch := range changes {
		for _, key := range slices.Concat(ch.put, ch.removed) {
			touched[key] = true
		}
	}
	c.gen, c.links.changed = gen, len(touched)
	if len(touched) == 0 {
		return nil
	}
	var old []uint32
	for slot := range c.slots.live.All() {
		if touched[uint64(c.slots.keys[slot])] {
			old = append(old, slot)
		}
	}
	for _, slot := range old {
		c.slots.remove(slot)
	}
	c.unlink(old)
	vector := make([]float32, c.dims)
	for _, key := range sortedKeys(touched) {
		if value := records.Get(keyBytes(key)); value != nil {
			if err := c.load(key, value, vector); err != nil {
				return err
			}
		}
	}
	return nil
}
