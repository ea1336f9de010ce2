package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// docNoLen is the length of the document number at the start of keys.
const docNoLen = 8

// apply makes one step of a commit.
func (c *buckets) apply(s *step) error {
	if s.header != nil {
		return c.top.Put(headerKey, s.header)
	}
	if err := c.remove(s.remove); err != nil {
		return err
	}
	if s.put == nil {
		return nil
	}
	return c.put(s.put)
}

// remove takes the document of a URI out, if there is one.
func (c *buckets) remove(uri string) error {
	rec := c.entries.Get([]byte(uri))
	if rec == nil {
		return nil
	}
	e, err := decodeEntry(rec)
	if err != nil {
		return err
	}
	doc := numberKey(e.docNo)
	if err := c.removeChunks(doc); err != nil {
		return err
	}
	var used [][]byte
	for key := range withPrefix(c.pictures, doc) {
		used = append(used, bytes.Clone(key))
	}
	for _, key := range used {
		if err := c.unusePicture(key); err != nil {
			return err
		}
		if err := c.pictures.Delete(key); err != nil {
			return err
		}
	}
	if err := c.refs.Delete(doc); err != nil {
		return err
	}
	if err := c.documents.Delete(doc); err != nil {
		return err
	}
	return c.entries.Delete([]byte(uri))
}

func (c *buckets) removeChunks(doc []byte) error {
	var keys [][]byte
	for key, rec := range withPrefix(c.chunks, doc) {
		chunk, err := decodeChunk(rec)
		if err != nil {
			return err
		}
		keys = append(keys, bytes.Clone(key))
		if err := c.ids.Delete([]byte(chunk.ID)); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := c.chunks.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// put writes a document whose old version is gone.
func (c *buckets) put(p *putStep) error {
	no, err := c.documents.NextSequence()
	if err != nil {
		return err
	}
	doc := numberKey(no)
	entry, err := encodeEntry(storedEntry{docNo: no, chunks: len(p.chunks), Entry: p.entry})
	if err != nil {
		return err
	}
	if err := c.entries.Put([]byte(p.entry.URI), entry); err != nil {
		return err
	}
	if err := c.refs.Put(doc, p.refs); err != nil {
		return err
	}
	if err := c.documents.Put(doc, p.document); err != nil {
		return err
	}
	for i, chunk := range p.chunks {
		if c.ids.Get([]byte(chunk.id)) != nil {
			return errTaken(chunk.id, p.entry.URI)
		}
		key := binary.BigEndian.AppendUint32(numberKey(no), uint32(i))
		if err := c.chunks.Put(key, chunk.rec); err != nil {
			return err
		}
		if err := c.ids.Put([]byte(chunk.id), key); err != nil {
			return err
		}
	}
	for sum, data := range p.pictures {
		if err := c.pictures.Put(append(numberKey(no), sum[:]...), []byte{}); err != nil {
			return err
		}
		if err := c.usePicture(sum, data); err != nil {
			return err
		}
	}
	return nil
}

// usePicture counts one more document with a picture, and stores its bytes with the first.
func (c *buckets) usePicture(sum digest, data []byte) error {
	n, err := c.pictureUses(sum[:])
	if err != nil {
		return err
	}
	if n == 0 {
		rec, err := finish(len(data)+8, func(w *record.Writer) { w.String(string(data)) })
		if err != nil {
			return err
		}
		if err := c.data.Put(sum[:], rec); err != nil {
			return err
		}
	}
	return c.setPictureUses(sum[:], n+1)
}

// unusePicture counts one document less with the picture of a key in pictures; with the last the bytes go.
func (c *buckets) unusePicture(key []byte) error {
	sum := key[docNoLen : docNoLen+sha256.Size]
	n, err := c.pictureUses(sum)
	if err != nil {
		return err
	}
	if n > 1 {
		return c.setPictureUses(sum, n-1)
	}
	if err := c.data.Delete(sum); err != nil {
		return err
	}
	return c.uses.Delete(sum)
}

func (c *buckets) pictureUses(sum []byte) (n uint64, err error) {
	rec := c.uses.Get(sum)
	if rec == nil {
		return 0, nil
	}
	err = read(rec, func(r *record.Reader) { n = r.Uint() })
	return n, err
}

func (c *buckets) setPictureUses(sum []byte, n uint64) error {
	rec, err := finish(8, func(w *record.Writer) { w.Uint(n) })
	if err != nil {
		return err
	}
	return c.uses.Put(sum, rec)
}
