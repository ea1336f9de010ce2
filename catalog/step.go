package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// step is a change of a commit, checked and encoded before anything is touched.
type step struct {
	header []byte // record; nil: none
	remove string // URI; of a put as well: the old version goes first
	put    *putStep
}

type putStep struct {
	entry    rag.Entry
	refs     []byte
	document []byte
	chunks   []chunkRecord // by ordinal
	pictures map[digest][]byte
}

type chunkRecord struct {
	id  string
	rec []byte
}

// prepare checks and encodes the changes of a commit.
func prepare(collection string, changes []rag.Change) ([]step, error) {
	if err := boltkv.CheckName(collection); err != nil {
		return nil, fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	steps := make([]step, len(changes))
	for i, c := range changes {
		var err error
		switch {
		case c.Header != nil && c.Put == nil && c.Remove == "":
			steps[i].header, err = encodeHeader(*c.Header)
		case c.Put != nil && c.Header == nil && c.Remove == "":
			steps[i].remove = c.Put.Entry.URI
			steps[i].put, err = preparePut(c.Put)
		case c.Remove != "" && c.Header == nil && c.Put == nil:
			steps[i].remove = c.Remove
		default:
			err = fmt.Errorf("change %d of a commit: exactly one of Header, Put and Remove must be set: %w", i, rag.ErrInvalid)
		}
		if err != nil {
			return nil, kind(err)
		}
	}
	return steps, nil
}

func preparePut(rec *rag.Record) (p *putStep, err error) {
	uri := rec.Entry.URI
	if uri == "" {
		return nil, fmt.Errorf("put a document: its entry has no URI: %w", rag.ErrInvalid)
	}
	p = &putStep{entry: rec.Entry}
	if _, err = encodeEntry(storedEntry{Entry: rec.Entry}); err != nil {
		return nil, fmt.Errorf("entry of %s: %w", uri, err)
	}
	if p.refs, err = encodeRefs(rec.Entry.Chunks); err != nil {
		return nil, fmt.Errorf("chunks of %s: %w", uri, err)
	}
	if p.document, p.pictures, err = encodeDocument(rec.Document); err != nil {
		return nil, fmt.Errorf("document %s: %w", uri, err)
	}
	ordered := slices.Clone(rec.Chunks)
	slices.SortStableFunc(ordered, func(a, b rag.Chunk) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for _, c := range ordered {
		if c.ID == "" {
			return nil, fmt.Errorf("chunk %d of %s has no ID: %w", c.Ordinal, uri, rag.ErrInvalid)
		}
		enc, err := encodeChunk(c)
		if err != nil {
			return nil, fmt.Errorf("chunk %s of %s: %w", c.ID, uri, err)
		}
		p.chunks = append(p.chunks, chunkRecord{c.ID, enc})
	}
	return p, nil
}

// addTo counts a document into its collection's description.
func addTo(info *rag.CollectionInfo, e storedEntry) {
	info.Documents++
	info.Chunks += e.chunks
	if e.Ingested.After(info.Updated) {
		info.Updated = e.Ingested
	}
}

// errTaken says that a chunk ID names a live chunk already.
func errTaken(id, uri string) error {
	return fmt.Errorf("put %s: chunk ID %s is taken by another live chunk: %w", uri, id, rag.ErrInvalid)
}

// notFound is the error for a URI without a document.
func notFound(collection, uri string) error {
	return fmt.Errorf("no document %s in collection %q: %w", uri, collection, rag.ErrNotFound)
}

// noPicture is the error for an ID that no document's picture has.
func noPicture(collection, id string) error {
	return fmt.Errorf("no picture %q in collection %q: %w", id, collection, rag.ErrNotFound)
}

// kind adds the kind that a caller can test for to an error of the layers below.
func kind(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boltkv.ErrLocked):
		return fmt.Errorf("%w: %w", err, rag.ErrLocked)
	case errors.Is(err, os.ErrExist), errors.Is(err, boltkv.ErrDamaged), errors.Is(err, boltkv.ErrFormat), errors.Is(err, record.ErrKind),
		errors.Is(err, berrors.ErrKeyTooLarge), errors.Is(err, berrors.ErrValueTooLarge):
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return err
}
