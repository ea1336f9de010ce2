package vectorstore

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// The log of changes lets a store whose snapshot is older than the collection read only what came after it. Every store
// writes it, once there is a snapshot: from then on the bucket exists. It ends when it would cost more than it saves.

// change is a write to a collection: the keys that were put and removed, and the generations before and after.
type change struct {
	gen, after   uint64
	put, removed []uint64
}

// maxChanges is how many changes a log may have: a snapshot that old is not worth bringing up to date. A write of the
// engine changes some hundred records.
const maxChanges = 20_000

// logChange appends to the log of a collection that has one.
func logChange(collection *bolt.Bucket, c change) error {
	log := collection.Bucket(changesBucket)
	if log == nil {
		return nil
	}
	if n, err := log.NextSequence(); err != nil || n > maxChanges {
		return endLog(collection, err)
	}
	w := record.NewWriter(layoutVersion, 16+2*len(c.put)+2*len(c.removed))
	w.Uint(c.after)
	for _, keys := range [][]uint64{c.put, c.removed} {
		w.Len(len(keys), false)
		last := uint64(0)
		for _, k := range keys { // mostly one above the last
			w.Int(int(k - last))
			last = k
		}
	}
	return putRecord(log, keyBytes(c.gen), w)
}

// endLog removes the log: the snapshot is given up.
func endLog(collection *bolt.Bucket, err error) error {
	if err != nil {
		return err
	}
	return collection.DeleteBucket(changesBucket)
}

// restartLog begins the log anew behind the snapshot of a generation.
func restartLog(collection *bolt.Bucket, gen uint64) error {
	log, err := collection.CreateBucketIfNotExists(changesBucket)
	if err != nil {
		return err
	}
	old, c := 0, log.Cursor()
	for k, _ := c.First(); k != nil && binary.BigEndian.Uint64(k) <= gen; k, _ = c.First() {
		if err := c.Delete(); err != nil {
			return err
		}
		old++
	}
	if n := log.Sequence(); n > 0 {
		return log.SetSequence(n - min(n, uint64(old)))
	}
	return nil
}

// changesSince returns what happened to a collection since a generation, in order; errOutdated where the log does not
// reach from there to now without a gap.
func changesSince(collection *bolt.Bucket, gen, now uint64) (list []change, err error) {
	log := collection.Bucket(changesBucket)
	switch {
	case gen == now:
		return nil, nil
	case log == nil:
		return nil, errOutdated
	}
	c := log.Cursor()
	for k, v := c.Seek(keyBytes(gen + 1)); k != nil; k, v = c.Next() {
		one, err := readChange(k, v)
		if err != nil {
			return nil, fmt.Errorf("change %x: %w", k, err)
		}
		if one.after != gen {
			return nil, errOutdated
		}
		list, gen = append(list, one), one.gen
	}
	if gen != now {
		return nil, errOutdated
	}
	return list, nil
}

func readChange(k, v []byte) (c change, err error) {
	r, _, err := record.Open(v, layoutVersion)
	if err != nil {
		return change{}, err
	}
	if len(k) != keyLen {
		return change{}, record.ErrDamaged
	}
	c.gen, c.after = binary.BigEndian.Uint64(k), r.Uint()
	for _, keys := range []*[]uint64{&c.put, &c.removed} {
		last := uint64(0)
		n, _ := r.Len()
		for range n {
			last += uint64(r.Int())
			*keys = append(*keys, last)
		}
	}
	return c, r.Close()
}
