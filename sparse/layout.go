package sparse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// The layout in rag.db is described in docs/formats.md.

// layoutVersion is the version byte of every record of this room. Version 1 had segments without details; what it
// holds was made by another analyzer, and is refused for that.
const layoutVersion = 2

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

// Kinds of what is cut into pieces.
const (
	segmentPieces = 's'
	detailPieces  = 'w'
)

func pieceKey(kind byte, id uint64, piece int) []byte {
	key := binary.BigEndian.AppendUint64([]byte{kind}, id)
	return binary.BigEndian.AppendUint32(key, uint32(piece))
}

func deadKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'d'}, id) }

// piecesOf returns how many values so many bytes take.
func piecesOf(size int) int { return (size + pieceSize - 1) / pieceSize }

// manifest lists the parts of a collection's index.
type manifest struct {
	generation uint64
	parts      []partEntry
}

type partEntry struct {
	id     uint64
	size   int // of the segment in bytes
	detail int // of its detail in bytes
}

// readManifest reads the list. A collection that another analyzer, or one with other settings, wrote is ErrFingerprint.
func readManifest(b *bolt.Bucket, fingerprint string) (manifest, error) {
	r, _, err := record.Open(b.Get(manifestKey), layoutVersion)
	if err != nil {
		return manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if by := r.String(); by != fingerprint {
		return manifest{}, fmt.Errorf("sparse index: the collection was indexed by analyzer %s, and this index has %s: use the settings it was built with, or build it anew with `rag reindex`: %w",
			by, fingerprint, rag.ErrFingerprint)
	}
	m := manifest{generation: r.Uint()}
	n, _ := r.Len()
	for range n {
		m.parts = append(m.parts, partEntry{r.Uint(), int(r.Uint()), int(r.Uint())})
	}
	if err := r.Close(); err != nil {
		return manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}

func writeManifest(b *bolt.Bucket, fingerprint string, m manifest) error {
	w := record.NewWriter(layoutVersion, 64+24*len(m.parts))
	w.String(fingerprint)
	w.Uint(m.generation)
	w.Len(len(m.parts), false)
	for _, p := range m.parts {
		w.Uint(p.id)
		w.Uint(uint64(p.size))
		w.Uint(uint64(p.detail))
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
	data, err := readPieces(b, segmentPieces, e.id, e.size)
	if err != nil {
		return nil, err
	}
	segment, err := bm25.Open(data)
	return segment, damaged(err)
}

// readDetail reads the detail of a part that the manifest lists.
func readDetail(b *bolt.Bucket, m manifest, p *bm25.Part) (*bm25.Detail, error) {
	for _, e := range m.parts {
		if e.id != p.ID {
			continue
		}
		data, err := readPieces(b, detailPieces, e.id, e.detail)
		if err != nil {
			return nil, fmt.Errorf("detail of segment %d: %w", e.id, err)
		}
		detail, err := p.Segment().OpenDetail(data)
		return detail, damaged(err)
	}
	return nil, fmt.Errorf("segment %d is not in the manifest: %w", p.ID, record.ErrDamaged)
}

func readPieces(b *bolt.Bucket, kind byte, id uint64, size int) (string, error) {
	var data strings.Builder
	for i := range piecesOf(size) {
		r, _, err := record.Open(b.Get(pieceKey(kind, id, i)), layoutVersion)
		if err != nil {
			return "", err
		}
		data.WriteString(r.String())
		if err := r.Close(); err != nil {
			return "", err
		}
	}
	return data.String(), nil
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

// writeIndex writes what next has and the collection has not, removes the reverse, and returns the new manifest. It
// gives new parts their ID, and drops details, which are in the file now, from memory.
func writeIndex(tx *bolt.Tx, collection, fingerprint string, have version, next *bm25.Index) (manifest, error) {
	root, err := tx.CreateBucketIfNotExists(rootBucket)
	if err != nil {
		return manifest{}, err
	}
	b, err := root.CreateBucketIfNotExists([]byte(collection))
	if err != nil {
		return manifest{}, err
	}
	b.FillPercent = boltkv.SequentialFill
	before := map[uint64]*bm25.Part{}
	for _, p := range have.index.Parts() {
		before[p.ID] = p
	}
	gone := map[uint64]partEntry{}
	for _, e := range have.manifest.parts {
		gone[e.id] = e
	}
	// Numbers come from the root's sequence, not the collection's: it goes on when a collection is dropped and made
	// again, so that a copy of the old one in memory is not taken for the new one.
	m := manifest{}
	if m.generation, err = root.NextSequence(); err != nil {
		return manifest{}, err
	}
	for _, p := range next.Parts() {
		if p.ID == 0 {
			if p.ID, err = root.NextSequence(); err != nil {
				return manifest{}, err
			}
		}
		e, err := writePart(b, p, before[p.ID], gone[p.ID])
		if err != nil {
			return manifest{}, err
		}
		if before[p.ID] == nil {
			p.Segment().SetDetail(nil)
		}
		delete(gone, p.ID)
		m.parts = append(m.parts, e)
	}
	for _, e := range gone {
		if err := deletePart(b, e); err != nil {
			return manifest{}, err
		}
	}
	return m, writeManifest(b, fingerprint, m)
}

// writePart writes a new part, or the marks of one that was there before with others, and returns its entry.
func writePart(b *bolt.Bucket, p, before *bm25.Part, e partEntry) (partEntry, error) {
	if p == before {
		return e, nil
	}
	if before == nil {
		segment, detail := p.Segment().Data(), p.Segment().Detail().Data()
		e = partEntry{p.ID, len(segment), len(detail)}
		if err := writePieces(b, segmentPieces, p.ID, segment); err != nil {
			return e, err
		}
		if err := writePieces(b, detailPieces, p.ID, detail); err != nil {
			return e, err
		}
	}
	dead := p.Dead()
	if len(dead) == 0 {
		return e, nil
	}
	w := record.NewWriter(layoutVersion, 8+5*len(dead))
	w.Len(len(dead), false)
	for _, d := range dead {
		w.Uint(uint64(d))
	}
	return e, put(b, deadKey(p.ID), w)
}

func writePieces(b *bolt.Bucket, kind byte, id uint64, data string) error {
	for i := range piecesOf(len(data)) {
		piece := data[i*pieceSize : min(len(data), (i+1)*pieceSize)]
		w := record.NewWriter(layoutVersion, len(piece)+binary.MaxVarintLen64)
		w.String(piece)
		if err := put(b, pieceKey(kind, id, i), w); err != nil {
			return err
		}
	}
	return nil
}

func deletePart(b *bolt.Bucket, e partEntry) error {
	for kind, size := range map[byte]int{segmentPieces: e.size, detailPieces: e.detail} {
		for i := range piecesOf(size) {
			if err := b.Delete(pieceKey(kind, e.id, i)); err != nil {
				return err
			}
		}
	}
	return b.Delete(deadKey(e.id))
}

func put(b *bolt.Bucket, key []byte, w *record.Writer) error {
	value, err := w.Finish()
	if err != nil {
		return err
	}
	return b.Put(key, value)
}
