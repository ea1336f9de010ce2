package catalog

import (
	"bytes"
	"crypto/sha256"

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

// remove takes the document of a URI out, if there is one, whatever of it can be read.
func (c *buckets) remove(uri string) error {
	rec := c.entries.Get([]byte(uri))
	if rec == nil {
		return nil
	}
	e, err := line([]byte(uri), rec)
	docs := [][]byte{numberKey(e.docNo)}
	if isDamage(err) {
		docs = c.numbersOf(uri)
	} else if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := c.removeNumber(doc); err != nil {
			return err
		}
	}
	return c.entries.Delete([]byte(uri))
}

// removeNumber takes out what is kept under a document number, but for the line in the ledger.
func (c *buckets) removeNumber(doc []byte) error {
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
	return c.documents.Delete(doc)
}

// removeChunks removes passages with their IDs.
func (c *buckets) removeChunks(doc []byte) error {
	keys, ids := c.passagesOf(doc)
	for _, id := range ids {
		if err := c.ids.Delete([]byte(id)); err != nil {
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

// passagesOf returns the keys of a document's passages, and the IDs that lead to them. Where a passage does not tell its ID, or
// that leads elsewhere, all IDs are looked through.
func (c *buckets) passagesOf(doc []byte) (keys [][]byte, ids []string) {
	told := true
	for key, rec := range withPrefix(c.chunks, doc) {
		keys = append(keys, bytes.Clone(key))
		chunk, err := decodeChunk(rec)
		if err == nil && bytes.Equal(c.ids.Get([]byte(chunk.ID)), key) {
			ids = append(ids, chunk.ID)
		} else {
			told = false
		}
	}
	if refs, err := decodeRefs(c.refs.Get(doc)); told && err == nil && len(refs) == len(keys) {
		return keys, ids
	}
	ids = nil
	for id, key := range withPrefix(c.ids, nil) {
		if bytes.HasPrefix(key, doc) {
			ids = append(ids, string(id))
		}
	}
	return keys, ids
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
		if err := c.free(chunk.id, p.entry.URI); err != nil {
			return err
		}
		key := chunkKey(no, i)
		if err := c.chunks.Put(key, chunk.rec); err != nil {
			return err
		}
		if err := c.ids.Put([]byte(chunk.id), key); err != nil {
			return err
		}
	}
	for sum, data := range p.pictures {
		if err := c.usePicture(sum, data); err != nil {
			return err
		}
		if err := c.pictures.Put(append(numberKey(no), sum[:]...), []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// free reports an ID that a live passage has. What a damaged file has left of a document that is gone makes way.
func (c *buckets) free(id, uri string) error {
	key := c.ids.Get([]byte(id))
	if key == nil {
		return nil
	}
	no, ok := numberOf(key)
	if !ok {
		return c.ids.Delete([]byte(id))
	}
	if c.isLive(no) {
		return errTaken(id, uri)
	}
	return c.removeNumber(numberKey(no))
}

// usePicture counts one more document with a picture, and stores its bytes where they are not yet, or are damaged.
func (c *buckets) usePicture(sum digest, data []byte) error {
	n, err := c.pictureUses(sum[:])
	if isDamage(err) || n == 0 && c.data.Get(sum[:]) != nil {
		n, err = c.countUses(sum[:])
	}
	if err != nil {
		return err
	}
	if kept, err := c.picture(sum); n == 0 || err != nil || !bytes.Equal(kept, data) {
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
	sum := key[docNoLen:]
	n, err := c.pictureUses(sum)
	if isDamage(err) || n == 0 {
		n, err = c.countUses(sum)
	}
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

// countUses counts the documents with a picture, where it is not known.
func (c *buckets) countUses(sum []byte) (uint64, error) {
	uses, err := c.usesOfAll()
	return uses[string(sum)], err
}

// usesOfAll counts for all collections how many documents use each picture, by digest. What is no digest has none.
func (c *buckets) usesOfAll() (map[string]uint64, error) {
	tx, uses := c.top.Tx(), map[string]uint64{}
	return uses, collectionsBucket(tx).ForEachBucket(func(name []byte) error {
		for key := range withPrefix(openCollection(tx, string(name)).pictures, nil) {
			if len(key) == docNoLen+sha256.Size {
				uses[string(key[docNoLen:])]++
			}
		}
		return nil
	})
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
