package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// A record that cannot be read must not keep the others from being read, nor its document from being replaced or deleted. So
// reads tell damage apart from other errors, and writes find what belongs to a document without the record that says so.

// bucket is a bucket that may be missing where a file is damaged: to read it is empty then.
type bucket struct{ *bolt.Bucket }

// Get returns the value of a key, or nil.
func (b bucket) Get(key []byte) []byte {
	if b.Bucket == nil {
		return nil
	}
	return b.Bucket.Get(key)
}

// isDamage tells a record that cannot be read from what concerns all, such as a newer version.
func isDamage(err error) bool { return errors.Is(err, record.ErrDamaged) }

// damages collects what could not be read.
type damages struct {
	uris   []string
	reason string // of the first
}

func (d *damages) add(uri string, err error) {
	if !slices.Contains(d.uris, uri) {
		d.uris = append(d.uris, uri)
	}
	d.reason = cmp.Or(d.reason, strings.TrimSuffix(err.Error(), ": "+record.ErrDamaged.Error()))
}

// err is what a caller gets of them; nil if there are none.
func (d *damages) err() error {
	if len(d.uris) == 0 {
		return nil
	}
	return &rag.DamageError{URIs: d.uris, Reason: d.reason}
}

// line reads the record that stands in the ledger under a URI.
func line(uri, rec []byte) (storedEntry, error) {
	e, err := decodeEntry(rec)
	if err == nil && e.URI != string(uri) {
		err = fmt.Errorf("it is that of %q: %w", e.URI, record.ErrDamaged)
	}
	if err != nil {
		return storedEntry{}, fmt.Errorf("its line in the ledger: %w", err)
	}
	return e, nil
}

// references reads the list of a document's passages. It looks whether the list is this document's by its first: all would
// cost a listing too much.
func (c *buckets) references(e *storedEntry) ([]rag.ChunkRef, error) {
	doc := numberKey(e.docNo)
	refs, err := decodeRefs(c.refs.Get(doc))
	if err == nil && (len(refs) != e.chunks || len(refs) > 0 && !bytes.HasPrefix(c.ids.Get([]byte(refs[0].ID)), doc)) {
		err = fmt.Errorf("it is that of another document: %w", record.ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of its passages: %w", err)
	}
	return refs, nil
}

// entry is a line of the ledger with its references. Of a damaged one it has what can be read.
func (c *buckets) entry(uri, rec []byte) (rag.Entry, error) {
	e, err := line(uri, rec)
	docs := [][]byte{numberKey(e.docNo)}
	if err == nil {
		if e.Chunks, err = c.references(&e); err == nil {
			return e.Entry, nil
		}
	} else if isDamage(err) {
		docs = c.numbersOf(string(uri))
	}
	if !isDamage(err) {
		return rag.Entry{}, err
	}
	e.URI, e.State, e.Chunks = string(uri), rag.StateDamaged, nil
	e.Warnings = append(e.Warnings, rag.Warning{Message: err.Error()})
	for _, doc := range docs {
		_, ids := c.passagesOf(doc)
		for _, id := range ids {
			e.Chunks = append(e.Chunks, rag.ChunkRef{ID: id})
		}
	}
	return e.Entry, nil
}

// chunk returns the passage of an ID, and what it is kept under; a nil key where there is none.
func (c *buckets) chunk(id string) (chunk rag.Chunk, key []byte, err error) {
	if key = c.ids.Get([]byte(id)); key == nil {
		return chunk, nil, nil
	}
	if chunk, err = decodeChunk(c.chunks.Get(key)); err == nil && chunk.ID != id {
		err = fmt.Errorf("it is passage %s: %w", chunk.ID, record.ErrDamaged)
	}
	if err != nil {
		err = fmt.Errorf("passage %s: %w", id, err)
	}
	return chunk, key, err
}

// numberOf returns the document number that a key begins with.
func numberOf(key []byte) (no uint64, ok bool) {
	if len(key) < docNoLen {
		return 0, false
	}
	return binary.BigEndian.Uint64(key), true
}

// numbers returns all document numbers under which something is kept, in order.
func (c *buckets) numbers() []uint64 {
	var all []uint64
	for _, b := range []bucket{c.refs, c.documents, c.chunks, c.pictures} {
		last, some := uint64(0), false
		for key := range withPrefix(b, nil) {
			if no, ok := numberOf(key); ok && (!some || no != last) {
				all, last, some = append(all, no), no, true
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// uriOf returns what the records under a document number say whose they are; "" if none can be read.
func (c *buckets) uriOf(doc []byte) string {
	d, err := decodeDocument(c.documents.Get(doc), func(digest) ([]byte, error) { return nil, nil })
	if err == nil && d.URI != "" {
		return d.URI
	}
	for _, rec := range withPrefix(c.chunks, doc) {
		if chunk, err := decodeChunk(rec); err == nil && chunk.URI != "" {
			return chunk.URI
		}
	}
	return ""
}

// claimed are the document numbers that stand in a line of the ledger that can be read.
func (c *buckets) claimed() map[uint64]bool {
	claimed := map[uint64]bool{}
	for uri, rec := range c.entriesAfter("", "") {
		if e, err := line(uri, rec); err == nil {
			claimed[e.docNo] = true
		}
	}
	return claimed
}

// numbersOf finds what belongs to a document whose line in the ledger is damaged: what says so, and stands in no other line.
func (c *buckets) numbersOf(uri string) (docs [][]byte) {
	claimed := c.claimed()
	for _, no := range c.numbers() {
		if doc := numberKey(no); !claimed[no] && c.uriOf(doc) == uri {
			docs = append(docs, doc)
		}
	}
	return docs
}

// isLive reports whether what is kept under a document number is a document's, be its line in the ledger damaged or not.
func (c *buckets) isLive(no uint64) bool {
	uri := c.uriOf(numberKey(no))
	rec := c.entries.Get([]byte(uri))
	if uri == "" || rec == nil {
		return c.claimed()[no]
	}
	e, err := line([]byte(uri), rec)
	return err != nil || e.docNo == no
}
