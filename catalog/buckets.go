package catalog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// Bucket and key names; docs/formats.md shows the tree.
var (
	rootBucket      = []byte("catalog")
	versionKey      = []byte("version")
	allCollections  = []byte("collections")
	pictureData     = []byte("pictures")
	pictureUses     = []byte("picture_uses")
	headerKey       = []byte("header")
	entriesBucket   = []byte("entries")
	refsBucket      = []byte("refs")
	documentsBucket = []byte("documents")
	chunksBucket    = []byte("chunks")
	idsBucket       = []byte("ids")
	picturesBucket  = []byte("pictures")
)

// buckets is one collection in one transaction.
type buckets struct {
	top       *bolt.Bucket // header
	entries   bucket       // URI → storedEntry
	refs      bucket       // document number → chunk references
	documents bucket       // document number → document
	chunks    bucket       // document number, place → chunk
	ids       bucket       // chunk ID → key in chunks
	pictures  bucket       // document number, digest → nothing
	data      bucket       // of all collections: digest → bytes
	uses      bucket       // of all collections: digest → number of documents
}

func collectionsBucket(tx *bolt.Tx) *bolt.Bucket {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil
	}
	return root.Bucket(allCollections)
}

// openCollection returns a collection, or nil if there is none of this name.
func openCollection(tx *bolt.Tx, name string) *buckets {
	all := collectionsBucket(tx)
	if all == nil || name == "" {
		return nil
	}
	top := all.Bucket([]byte(name))
	if top == nil {
		return nil
	}
	c := &buckets{top: top}
	for _, b := range c.own() {
		b.bucket.Bucket = top.Bucket(b.name)
	}
	root := tx.Bucket(rootBucket)
	c.data, c.uses = bucket{root.Bucket(pictureData)}, bucket{root.Bucket(pictureUses)}
	return c
}

type ownBucket struct {
	name   []byte
	bucket *bucket
}

func (c *buckets) own() []ownBucket {
	return []ownBucket{
		{entriesBucket, &c.entries}, {refsBucket, &c.refs}, {documentsBucket, &c.documents},
		{chunksBucket, &c.chunks}, {idsBucket, &c.ids}, {picturesBucket, &c.pictures},
	}
}

// makeCollection returns a collection of a write transaction and makes what is missing.
func makeCollection(tx *bolt.Tx, name string) (*buckets, error) {
	if err := layOut(tx, name); err != nil {
		return nil, err
	}
	c := openCollection(tx, name)
	for _, b := range []bucket{c.refs, c.documents, c.chunks} {
		b.FillPercent = boltkv.SequentialFill // document numbers only grow
	}
	return c, nil
}

// layOut makes what is missing of the catalog and of a collection: all of it, or what a damaged file has lost.
func layOut(tx *bolt.Tx, name string) error {
	root, err := tx.CreateBucketIfNotExists(rootBucket)
	if err != nil {
		return err
	}
	if root.Get(versionKey) == nil {
		version, err := finish(0, func(*record.Writer) {})
		if err != nil {
			return err
		}
		if err := root.Put(versionKey, version); err != nil {
			return err
		}
	}
	for _, b := range [][]byte{allCollections, pictureData, pictureUses} {
		if _, err := root.CreateBucketIfNotExists(b); err != nil {
			return err
		}
	}
	top, err := root.Bucket(allCollections).CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	for _, b := range new(buckets).own() {
		if _, err := top.CreateBucketIfNotExists(b.name); err != nil {
			return err
		}
	}
	return nil
}

// numberKey is the key of a document number: big endian, so that keys sort by number.
func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// withPrefix yields the pairs of a bucket whose keys begin with prefix. They are valid within the transaction; the
// bucket must not be changed meanwhile.
func withPrefix(b bucket, prefix []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if b.Bucket == nil {
			return
		}
		cur := b.Cursor()
		for k, v := cur.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = cur.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

// entriesAfter yields the URIs behind one that begin with prefix, with their entry records.
func (c *buckets) entriesAfter(uri, prefix string) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if c.entries.Bucket == nil {
			return
		}
		cur, start := c.entries.Cursor(), []byte(prefix)
		k, v := cur.Seek([]byte(max(uri, prefix)))
		if k != nil && string(k) == uri {
			k, v = cur.Next()
		}
		for ; k != nil && bytes.HasPrefix(k, start) && yield(k, v); k, v = cur.Next() {
		}
	}
}

// document returns the document of an entry record with its pictures.
func (c *buckets) document(uri, rec []byte) (rag.Document, error) {
	e, err := line(uri, rec)
	if err != nil {
		return rag.Document{}, err
	}
	d, err := decodeDocument(c.documents.Get(numberKey(e.docNo)), c.picture)
	if err != nil {
		return rag.Document{}, fmt.Errorf("its text or a picture: %w", err)
	}
	return d, nil
}

// picture returns a copy of stored bytes.
func (c *buckets) picture(sum digest) (data []byte, err error) {
	err = read(c.data.Get(sum[:]), func(r *record.Reader) { data = []byte(r.String()) })
	return data, err
}

// withPicture returns the number of a document of the collection that has the picture, or nil. It looks through the keys, 40
// bytes each, rather than keep a second order of them.
func (c *buckets) withPicture(sum digest) (doc []byte) {
	for key := range withPrefix(c.pictures, nil) {
		if len(key) > docNoLen && string(key[docNoLen:]) == string(sum[:]) {
			return key[:docNoLen]
		}
	}
	return nil
}

// info counts a collection's documents, chunks and pictures.
func (c *buckets) info(name string) (rag.CollectionInfo, error) {
	info := rag.CollectionInfo{Name: name}
	if rec := c.top.Get(headerKey); rec != nil {
		var err error
		if info.Header, err = decodeHeader(rec); err != nil {
			return info, fmt.Errorf("header: %w", err)
		}
	}
	for uri, rec := range c.entriesAfter("", "") {
		e, err := line(uri, rec)
		if err != nil && !isDamage(err) {
			return info, fmt.Errorf("document %s: %w", uri, err)
		}
		addTo(&info, e) // of a damaged one it is known that it is there
	}
	seen := map[string]bool{}
	for key := range withPrefix(c.pictures, nil) {
		seen[string(key[min(docNoLen, len(key)):])] = true
	}
	info.Images = len(seen)
	return info, nil
}
