package sparse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// The layout in rag.db is described in docs/formats.md.

// layoutVersion is the version byte of every record of this room.
const layoutVersion = 1

// pieceSize is the length in bytes at which a segment is cut into values: large enough to waste little of bbolt's
// pages, small enough that free runs of pages of that length are found.
const pieceSize = 1 << 20

var (
	rootBucket  = []byte("sparse")
	manifestKey = []byte("m")
)

func collectionBucket(tx *bolt.Tx, collection string) *bolt.Bucket {
	root := tx.Bucket(rootBucket)
	if root == nil || collection == "" {
		return nil
	}
	return root.Bucket([]byte(collection))
}

func pieceKey(id uint64, piece int) []byte {
	key := binary.BigEndian.AppendUint64([]byte{'s'}, id)
	return binary.BigEndian.AppendUint32(key, uint32(piece))
}

func deadKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'d'}, id) }

// pieces returns how many values a segment of so many bytes takes.
func pieces(size int) int { return (size + pieceSize - 1) / pieceSize }

// manifest lists the parts of a collection's index.
type manifest struct {
	generation uint64
	parts      []partEntry
}

type partEntry struct {
	id   uint64
	size int // of the segment in bytes
}

// readManifest reads the list. A collection that another analyzer wrote is ErrFingerprint.
func readManifest(b *bolt.Bucket) (manifest, error) {
	r, _, err := record.Open(b.Get(manifestKey), layoutVersion)
	if err != nil {
		return manifest{}, fmt.Errorf("manifest: %w", err)
	}
	analyzer := r.String()
	m := manifest{generation: r.Uint()}
	n, _ := r.Len()
	for range n {
		m.parts = append(m.parts, partEntry{r.Uint(), int(r.Uint())})
	}
	if err := r.Close(); err != nil {
		return manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if analyzer != analyze.Fingerprint {
		return manifest{}, fmt.Errorf("sparse index: the collection was indexed by analyzer %s, this program has %s: drop the collection and ingest it again: %w",
			analyzer, analyze.Fingerprint, rag.ErrFingerprint)
	}
	return m, nil
}

func writeManifest(b *bolt.Bucket, m manifest) error {
	w := record.NewWriter(layoutVersion, 64+16*len(m.parts))
	w.String(analyze.Fingerprint)
	w.Uint(m.generation)
	w.Len(len(m.parts), false)
	for _, p := range m.parts {
		w.Uint(p.id)
		w.Uint(uint64(p.size))
	}
	return put(b, manifestKey, w)
}

// readIndex reads the parts. Segments that have, an older state of the index, holds are not read again.
func readIndex(b *bolt.Bucket, m manifest, have *bm25.Index) (*bm25.Index, error) {
	known := map[uint64]*bm25.Segment{}
	for _, p := range have.Parts() {
		known[p.ID] = p.Segment()
	}
	parts := make([]*bm25.Part, 0, len(m.parts))
	for _, e := range m.parts {
		segment := known[e.id]
		if segment == nil {
			var err error
			if segment, err = readSegment(b, e); err != nil {
				return nil, fmt.Errorf("segment %d: %w", e.id, err)
			}
		}
		dead, err := readDead(b, e.id)
		if err != nil {
			return nil, fmt.Errorf("marks of segment %d: %w", e.id, err)
		}
		part, err := bm25.OpenPart(e.id, segment, dead)
		if err != nil {
			return nil, damaged(err)
		}
		parts = append(parts, part)
	}
	return bm25.NewIndex(parts), nil
}

func readSegment(b *bolt.Bucket, e partEntry) (*bm25.Segment, error) {
	var data strings.Builder
	for i := range pieces(e.size) {
		r, _, err := record.Open(b.Get(pieceKey(e.id, i)), layoutVersion)
		if err != nil {
			return nil, err
		}
		data.WriteString(r.String())
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	segment, err := bm25.Open(data.String())
	return segment, damaged(err)
}

// damaged makes an error of the index one that the database knows.
func damaged(err error) error {
	if errors.Is(err, bm25.ErrDamaged) {
		return fmt.Errorf("%w: %w", err, record.ErrDamaged)
	}
	return err
}

func readDead(b *bolt.Bucket, id uint64) ([]uint32, error) {
	value := b.Get(deadKey(id))
	if value == nil {
		return nil, nil
	}
	r, _, err := record.Open(value, layoutVersion)
	if err != nil {
		return nil, err
	}
	n, _ := r.Len()
	dead := make([]uint32, n)
	for i := range dead {
		dead[i] = uint32(r.Uint())
	}
	return dead, r.Close()
}

// writeIndex writes what next has and have has not, removes the reverse, and returns the new generation. It gives new
// parts their ID.
func writeIndex(tx *bolt.Tx, collection string, have, next *bm25.Index) (uint64, error) {
	root, err := tx.CreateBucketIfNotExists(rootBucket)
	if err != nil {
		return 0, err
	}
	b, err := root.CreateBucketIfNotExists([]byte(collection))
	if err != nil {
		return 0, err
	}
	b.FillPercent = boltkv.SequentialFill
	gone := map[uint64]*bm25.Part{}
	for _, p := range have.Parts() {
		gone[p.ID] = p
	}
	// Numbers come from the root's sequence, not the collection's: it goes on when a collection is dropped and made
	// again, so that a copy of the old one in memory is not taken for the new one.
	m := manifest{}
	if m.generation, err = root.NextSequence(); err != nil {
		return 0, err
	}
	for _, p := range next.Parts() {
		if err := writePart(root, b, p, gone[p.ID]); err != nil {
			return 0, err
		}
		delete(gone, p.ID)
		m.parts = append(m.parts, partEntry{p.ID, len(p.Segment().Data())})
	}
	for _, p := range gone {
		if err := deletePart(b, p); err != nil {
			return 0, err
		}
	}
	return m.generation, writeManifest(b, m)
}

// writePart writes a new part, or the marks of one that was there before with others.
func writePart(root, b *bolt.Bucket, p, before *bm25.Part) (err error) {
	if p == before {
		return nil
	}
	if p.ID == 0 {
		if p.ID, err = root.NextSequence(); err != nil {
			return err
		}
		if err := writeSegment(b, p); err != nil {
			return err
		}
	}
	dead := p.Dead()
	if len(dead) == 0 {
		return nil
	}
	w := record.NewWriter(layoutVersion, 8+5*len(dead))
	w.Len(len(dead), false)
	for _, d := range dead {
		w.Uint(uint64(d))
	}
	return put(b, deadKey(p.ID), w)
}

func writeSegment(b *bolt.Bucket, p *bm25.Part) error {
	data := p.Segment().Data()
	for i := range pieces(len(data)) {
		piece := data[i*pieceSize : min(len(data), (i+1)*pieceSize)]
		w := record.NewWriter(layoutVersion, len(piece)+binary.MaxVarintLen64)
		w.String(piece)
		if err := put(b, pieceKey(p.ID, i), w); err != nil {
			return err
		}
	}
	return nil
}

func deletePart(b *bolt.Bucket, p *bm25.Part) error {
	for i := range pieces(len(p.Segment().Data())) {
		if err := b.Delete(pieceKey(p.ID, i)); err != nil {
			return err
		}
	}
	return b.Delete(deadKey(p.ID))
}

func put(b *bolt.Bucket, key []byte, w *record.Writer) error {
	value, err := w.Finish()
	if err != nil {
		return err
	}
	return b.Put(key, value)
}
