package catalog

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// Memory is a catalog that keeps nothing on disk. It holds records in the encoding of [Bolt], so what goes in and what
// comes out share no memory. It is safe for concurrent use.
type Memory struct {
	mu          sync.RWMutex
	collections map[string]*memCollection
	pictures    map[digest]*memPicture // of all collections
}

type memCollection struct {
	header []byte
	docs   map[string]*memDoc // by URI
	uris   []string           // of docs, in order
	ids    map[string][]byte  // chunk ID → chunk record
}

// memDoc is a document; it is never changed once it is made.
type memDoc struct {
	uri      string
	entry    []byte
	refs     []byte
	document []byte
	chunks   []chunkRecord
	pictures map[digest][]byte
}

type memPicture struct {
	data []byte
	uses int // documents
}

var _ rag.Catalog = (*Memory)(nil)

// NewMemory returns an empty catalog.
func NewMemory() *Memory {
	return &Memory{collections: map[string]*memCollection{}, pictures: map[digest]*memPicture{}}
}

// Close does nothing.
func (m *Memory) Close() error { return nil }

// doc returns the document of a URI, or nil.
func (m *Memory) doc(collection, uri string) *memDoc {
	if c := m.collections[collection]; c != nil {
		return c.docs[uri]
	}
	return nil
}

// Entry returns the ledger line of a URI, or ErrNotFound.
func (m *Memory) Entry(ctx context.Context, collection, uri string) (rag.Entry, error) {
	if err := ctx.Err(); err != nil {
		return rag.Entry{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := m.doc(collection, uri)
	if d == nil {
		return rag.Entry{}, notFound(collection, uri)
	}
	return d.line()
}

func (d *memDoc) line() (rag.Entry, error) {
	e, err := decodeEntry(d.entry)
	if err != nil {
		return rag.Entry{}, err
	}
	e.Chunks, err = decodeRefs(d.refs)
	return e.Entry, err
}

// Document returns a stored document with its text and images, or ErrNotFound.
func (m *Memory) Document(ctx context.Context, collection, uri string) (rag.Document, error) {
	if err := ctx.Err(); err != nil {
		return rag.Document{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := m.doc(collection, uri)
	if d == nil {
		return rag.Document{}, notFound(collection, uri)
	}
	return decodeDocument(d.document, func(sum digest) ([]byte, error) { return bytes.Clone(d.pictures[sum]), nil })
}

// Image returns the bytes of a picture that a document of the collection has, or ErrNotFound.
func (m *Memory) Image(ctx context.Context, collection, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	sum, ok := digestOf(id)
	if c := m.collections[collection]; c != nil && ok {
		for _, d := range c.docs {
			if data, has := d.pictures[sum]; has {
				return bytes.Clone(data), nil
			}
		}
	}
	return nil, noPicture(collection, id)
}

// Commit applies the changes in order and atomically. A document's chunk ID that another live chunk of the collection has
// is ErrInvalid.
func (m *Memory) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	steps, err := prepare(collection, changes)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.collections[collection]
	if c == nil {
		c = &memCollection{docs: map[string]*memDoc{}, ids: map[string][]byte{}}
	}
	header := c.header
	var undo []func()
	for i := range steps {
		if err := m.apply(c, &steps[i], &undo); err != nil {
			for _, back := range slices.Backward(undo) {
				back()
			}
			c.header = header
			return err
		}
	}
	m.collections[collection] = c
	return nil
}

// apply makes one step of a commit and notes how to take it back.
func (m *Memory) apply(c *memCollection, s *step, undo *[]func()) error {
	if s.header != nil {
		c.header = s.header
		return nil
	}
	if old := c.docs[s.remove]; old != nil {
		m.unlink(c, old)
		*undo = append(*undo, func() { m.link(c, old) })
	}
	if s.put == nil {
		return nil
	}
	d, err := newMemDoc(s.put)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, chunk := range d.chunks {
		if seen[chunk.id] || c.ids[chunk.id] != nil {
			return errTaken(chunk.id, d.uri)
		}
		seen[chunk.id] = true
	}
	m.link(c, d)
	*undo = append(*undo, func() { m.unlink(c, d) })
	return nil
}

func newMemDoc(p *putStep) (*memDoc, error) {
	entry, err := encodeEntry(storedEntry{chunks: len(p.chunks), Entry: p.entry})
	if err != nil {
		return nil, err
	}
	d := &memDoc{uri: p.entry.URI, entry: entry, refs: p.refs, document: p.document, chunks: p.chunks, pictures: map[digest][]byte{}}
	maps.Copy(d.pictures, p.pictures)
	return d, nil
}

func (m *Memory) link(c *memCollection, d *memDoc) {
	c.docs[d.uri] = d
	at, _ := slices.BinarySearch(c.uris, d.uri)
	c.uris = slices.Insert(c.uris, at, d.uri)
	for _, chunk := range d.chunks {
		c.ids[chunk.id] = chunk.rec
	}
	for sum, data := range d.pictures {
		p := m.pictures[sum]
		if p == nil {
			p = &memPicture{data: bytes.Clone(data)}
			m.pictures[sum] = p
		}
		p.uses++
		d.pictures[sum] = p.data
	}
}

func (m *Memory) unlink(c *memCollection, d *memDoc) {
	delete(c.docs, d.uri)
	at, _ := slices.BinarySearch(c.uris, d.uri)
	c.uris = slices.Delete(c.uris, at, at+1)
	for _, chunk := range d.chunks {
		delete(c.ids, chunk.id)
	}
	for sum := range d.pictures {
		if p := m.pictures[sum]; p.uses > 1 {
			p.uses--
		} else {
			delete(m.pictures, sum)
		}
	}
}

// Chunks returns the live chunks among ids, in the order asked.
func (m *Memory) Chunks(ctx context.Context, collection string, ids []string) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.collections[collection]
	if c == nil {
		return nil, nil
	}
	chunks := make([]rag.Chunk, 0, len(ids))
	for _, id := range ids {
		rec := c.ids[id]
		if rec == nil {
			continue
		}
		chunk, err := decodeChunk(rec)
		if err != nil {
			return nil, fmt.Errorf("chunk %s: %w", id, err)
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// snapshot returns the documents of a collection whose URI begins with prefix and comes behind after as they are now, by URI.
func (m *Memory) snapshot(collection, prefix, after string) (docs []*memDoc) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.collections[collection]
	if c == nil {
		return nil
	}
	from, _ := slices.BinarySearch(c.uris, max(prefix, after))
	if from < len(c.uris) && c.uris[from] == after {
		from++
	}
	for _, uri := range c.uris[from:] {
		if !strings.HasPrefix(uri, prefix) {
			break
		}
		docs = append(docs, c.docs[uri])
	}
	return docs
}

// Scan yields the live chunks whose Fields and Validity match the filter, by URI and ordinal, as they are when the
// iteration begins.
func (m *Memory) Scan(ctx context.Context, collection string, f rag.Filter) iter.Seq2[rag.Chunk, error] {
	return func(yield func(rag.Chunk, error) bool) {
		if err := f.Validate(); err != nil {
			yield(rag.Chunk{}, err)
			return
		}
		for _, d := range m.snapshot(collection, "", "") {
			for _, rec := range d.chunks {
				chunk, err := decodeChunk(rec.rec)
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					yield(rag.Chunk{}, err)
					return
				}
				if f.Match(chunk.Fields(), chunk.Validity) && !yield(chunk, nil) {
					return
				}
			}
		}
	}
}

// Entries yields the lines of the ledger whose URI begins with prefix and comes behind after, by URI, as they are when the
// iteration begins.
func (m *Memory) Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[rag.Entry, error] {
	return func(yield func(rag.Entry, error) bool) {
		for _, d := range m.snapshot(collection, prefix, after) {
			e, err := d.line()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(rag.Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Collections lists the collections by name.
func (m *Memory) Collections(ctx context.Context) ([]rag.CollectionInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var infos []rag.CollectionInfo
	for _, name := range slices.Sorted(maps.Keys(m.collections)) {
		info, err := m.collections[name].info(name)
		if err != nil {
			return nil, fmt.Errorf("collection %q: %w", name, err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (c *memCollection) info(name string) (info rag.CollectionInfo, err error) {
	info.Name = name
	if c.header != nil {
		if info.Header, err = decodeHeader(c.header); err != nil {
			return info, err
		}
	}
	pictures := map[digest]bool{}
	for _, d := range c.docs {
		e, err := decodeEntry(d.entry)
		if err != nil {
			return info, err
		}
		addTo(&info, e)
		for sum := range d.pictures {
			pictures[sum] = true
		}
	}
	info.Images = len(pictures)
	return info, nil
}

// Drop removes a collection with its pictures; an unknown one is not an error.
func (m *Memory) Drop(ctx context.Context, collection string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.collections[collection]; c != nil {
		for len(c.uris) > 0 { // the last first: no other has to move up
			m.unlink(c, c.docs[c.uris[len(c.uris)-1]])
		}
		delete(m.collections, collection)
	}
	return nil
}
