package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

var _ rag.Mender = (*Bolt)(nil)

// wholeDocument is a document of which all is there that cannot be made from something else.
type wholeDocument struct {
	no       uint64
	document rag.Document
	chunks   []rag.Chunk
}

// whole reads a document's line in the ledger, text, pictures and passages.
func (c *buckets) whole(uri, rec []byte) (w wholeDocument, err error) {
	e, err := line(uri, rec)
	if err != nil {
		return w, err
	}
	w.no = e.docNo
	doc := numberKey(e.docNo)
	if w.document, err = decodeDocument(c.documents.Get(doc), c.checkedPicture); err != nil {
		return w, fmt.Errorf("its text or a picture: %w", err)
	}
	text := w.document.Text
	if w.document.URI != e.URI {
		return w, fmt.Errorf("its text is that of %q: %w", w.document.URI, record.ErrDamaged)
	}
	for key, rec := range withPrefix(c.chunks, doc) {
		n := len(w.chunks)
		chunk, err := decodeChunk(rec)
		switch {
		case err != nil:
			return w, fmt.Errorf("passage %d: %w", n, err)
		case chunk.Start < 0 || chunk.End > len(text) || chunk.Start > chunk.End || text[chunk.Start:chunk.End] != chunk.Text:
			return w, fmt.Errorf("passage %d is not a part of its text: %w", n, record.ErrDamaged)
		case !bytes.Equal(key, chunkKey(e.docNo, n)):
			return w, fmt.Errorf("passage %d is missing: %w", n, record.ErrDamaged)
		}
		w.chunks = append(w.chunks, chunk)
	}
	if len(w.chunks) != e.chunks {
		return w, fmt.Errorf("it has %d passages of %d: %w", len(w.chunks), e.chunks, record.ErrDamaged)
	}
	return w, nil
}

// chunkKey is the key of a passage.
func chunkKey(no uint64, place int) []byte {
	return binary.BigEndian.AppendUint32(numberKey(no), uint32(place))
}

// pictures are the digests of the pictures that a document has the bytes of.
func (w *wholeDocument) pictures() map[digest]bool {
	has := map[digest]bool{}
	for _, img := range w.document.Images {
		if len(img.Data) > 0 {
			has[sha256.Sum256(img.Data)] = true
		}
	}
	return has
}

// Mend takes out the documents that cannot be read whole, and makes anew what follows from the rest: lists of passages, the
// places of passages by their IDs, which pictures a document has, and how often each is used.
func (b *Bolt) Mend(ctx context.Context, collection string, ref func(*rag.Chunk) rag.ChunkRef) (dropped []rag.Problem, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if known, err := b.known(collection); err != nil || !known {
		return nil, err
	}
	err = kind(b.db.Update(func(tx *bolt.Tx) error {
		c, err := makeCollection(tx, collection)
		if err != nil {
			return err
		}
		m := mending{buckets: c, ref: ref, sound: map[uint64]bool{}, uris: map[string]bool{}, ids: map[string][]byte{}}
		for _, step := range []func(context.Context) error{m.look, m.takeOut, m.placeIDs, m.countPictures} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		dropped = m.dropped
		return nil
	}))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(dropped, func(a, b rag.Problem) int { return cmp.Compare(a.URI, b.URI) })
	return dropped, nil
}

// mending is a Mend in its transaction.
type mending struct {
	*buckets
	ref     func(*rag.Chunk) rag.ChunkRef
	sound   map[uint64]bool   // numbers of the documents that stay
	uris    map[string]bool   // of all documents that have a line in the ledger
	ids     map[string][]byte // where the passages are that stay
	puts    []pair            // what is made anew
	dropped []rag.Problem
}

type pair struct {
	in         bucket
	key, value []byte // nil: the key goes
}

func (m *mending) drop(uri string, why error) {
	m.dropped = append(m.dropped, rag.Problem{URI: uri, Message: why.Error()})
}

// look finds which documents are whole, and makes their lists anew.
func (m *mending) look(ctx context.Context) error {
	for uri, rec := range m.entriesAfter("", "") {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.uris[string(uri)] = true
		w, err := m.whole(uri, rec)
		if err == nil {
			err = m.keep(&w)
		}
		if err == nil {
			continue
		}
		if !isDamage(err) {
			return err
		}
		m.drop(string(uri), err)
		m.puts = append(m.puts, pair{m.entries, bytes.Clone(uri), nil})
	}
	return m.put()
}

// keep notes a whole document, and what of it is to be written.
func (m *mending) keep(w *wholeDocument) error {
	doc, refs := numberKey(w.no), make([]rag.ChunkRef, len(w.chunks))
	for i := range w.chunks {
		if refs[i] = m.ref(&w.chunks[i]); m.ids[refs[i].ID] != nil {
			return fmt.Errorf("passage %d is that of another document: %w", i, record.ErrDamaged)
		}
	}
	for i, ref := range refs {
		m.ids[ref.ID] = chunkKey(w.no, i)
	}
	m.sound[w.no] = true
	if !m.lists(w) {
		rec, err := encodeRefs(refs)
		if err != nil {
			return err
		}
		m.puts = append(m.puts, pair{m.refs, doc, rec})
	}
	has := w.pictures()
	for key := range withPrefix(m.buckets.pictures, doc) {
		if sum := key[docNoLen:]; len(sum) == sha256.Size && has[digest(sum)] {
			delete(has, digest(sum))
		} else {
			m.puts = append(m.puts, pair{m.buckets.pictures, bytes.Clone(key), nil})
		}
	}
	for sum := range has {
		m.puts = append(m.puts, pair{m.buckets.pictures, append(numberKey(w.no), sum[:]...), []byte{}})
	}
	return nil
}

// lists reports whether the list of a document's passages is right.
func (c *buckets) lists(w *wholeDocument) bool {
	refs, err := decodeRefs(c.refs.Get(numberKey(w.no)))
	return err == nil && slices.EqualFunc(refs, w.chunks, func(ref rag.ChunkRef, chunk rag.Chunk) bool { return ref.ID == chunk.ID })
}

// takeOut removes what belongs to no document that stays.
func (m *mending) takeOut(ctx context.Context) error {
	told := map[string]bool{}
	for _, no := range m.numbers() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if uri := m.uriOf(numberKey(no)); !m.sound[no] && !m.uris[uri] && !told[uri] {
			told[uri] = true
			m.drop(uri, fmt.Errorf("its line in the ledger is missing: %w", record.ErrDamaged))
		}
	}
	for _, b := range []struct {
		bucket
		keyLen int
	}{{m.refs, docNoLen}, {m.documents, docNoLen}, {m.chunks, len(chunkKey(0, 0))}, {m.buckets.pictures, docNoLen + sha256.Size}} {
		for key := range withPrefix(b.bucket, nil) {
			if no, ok := numberOf(key); !ok || len(key) != b.keyLen || !m.sound[no] {
				m.puts = append(m.puts, pair{b.bucket, bytes.Clone(key), nil})
			}
		}
	}
	return m.put()
}

// placeIDs says of each passage where it is.
func (m *mending) placeIDs(context.Context) error {
	for id, key := range withPrefix(m.buckets.ids, nil) {
		if bytes.Equal(m.ids[string(id)], key) {
			delete(m.ids, string(id))
		} else {
			m.puts = append(m.puts, pair{m.buckets.ids, bytes.Clone(id), nil})
		}
	}
	if err := m.put(); err != nil {
		return err
	}
	for id, key := range m.ids {
		m.puts = append(m.puts, pair{m.buckets.ids, []byte(id), key})
	}
	return m.put()
}

// countPictures counts how often each picture is used, and removes those that are not.
func (m *mending) countPictures(context.Context) error {
	uses, err := m.usesOfAll()
	if err != nil {
		return err
	}
	for _, b := range []bucket{m.data, m.buckets.uses} {
		for sum := range withPrefix(b, nil) {
			if uses[string(sum)] == 0 {
				m.puts = append(m.puts, pair{b, bytes.Clone(sum), nil})
			}
		}
	}
	for sum, want := range uses {
		if n, err := m.pictureUses([]byte(sum)); n == want && err == nil {
			continue
		}
		if err := m.setPictureUses([]byte(sum), want); err != nil {
			return err
		}
	}
	return m.put()
}

// put makes the changes that are noted: a bucket must not be changed while it is read.
func (m *mending) put() error {
	for _, p := range m.puts {
		var err error
		if p.value == nil {
			err = p.in.Delete(p.key)
		} else {
			err = p.in.Put(p.key, p.value)
		}
		if err != nil {
			return err
		}
	}
	m.puts = nil
	return nil
}
