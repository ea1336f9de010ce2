package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

var _ rag.Checker = (*Bolt)(nil)

// toDo is what helps where a record of the catalog is damaged: nothing holds it a second time.
const toDo = ": restore a backup, or delete the file and ingest again"

// Check reads every record of a collection and follows every reference: a document's passages are parts of its text, its
// pictures are there, are what their digests say, and are counted as often as they are used.
func (b *Bolt) Check(ctx context.Context, collection string) (problems []rag.Problem, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = b.view(func(tx *bolt.Tx) error {
		c := openCollection(tx, collection)
		if c == nil {
			return nil
		}
		note := func(uri string, err error) {
			if err != nil {
				problems = append(problems, rag.Problem{URI: uri, Message: err.Error() + toDo})
			}
		}
		documents, chunks := 0, 0
		for uri, rec := range c.entriesAfter("", "") {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := c.checkDocument(uri, rec)
			note(string(uri), err)
			documents, chunks = documents+1, chunks+n
		}
		note("", c.checkCounts(documents, chunks))
		note("", checkPictures(tx))
		return nil
	})
	return problems, err
}

// checkDocument reads a document with all that belongs to it, and returns how many passages it has.
func (c *buckets) checkDocument(uri, rec []byte) (chunks int, err error) {
	e, err := decodeEntry(rec)
	if err != nil {
		return 0, fmt.Errorf("its line in the ledger: %w", err)
	}
	if e.URI != string(uri) {
		return 0, fmt.Errorf("its line in the ledger is that of %q: %w", e.URI, record.ErrDamaged)
	}
	doc := numberKey(e.docNo)
	refs, err := decodeRefs(c.refs.Get(doc))
	if err != nil {
		return 0, fmt.Errorf("the list of its passages: %w", err)
	}
	d, err := decodeDocument(c.documents.Get(doc), c.checkedPicture)
	if err != nil {
		return 0, fmt.Errorf("its text or a picture: %w", err)
	}
	for key, rec := range withPrefix(c.chunks, doc) {
		chunk, err := decodeChunk(rec)
		switch {
		case err != nil:
			return 0, fmt.Errorf("passage %d: %w", chunks, err)
		case chunk.Start < 0 || chunk.End > len(d.Text) || chunk.Start > chunk.End || d.Text[chunk.Start:chunk.End] != chunk.Text:
			return 0, fmt.Errorf("passage %d is not a part of its text: %w", chunks, record.ErrDamaged)
		case chunks >= len(refs) || refs[chunks].ID != chunk.ID || !bytes.Equal(c.ids.Get([]byte(chunk.ID)), key):
			return 0, fmt.Errorf("passage %d is not the one that is listed: %w", chunks, record.ErrDamaged)
		}
		chunks++
	}
	if chunks != len(refs) || chunks != e.chunks {
		return 0, fmt.Errorf("it has %d passages, and %d are listed: %w", chunks, len(refs), record.ErrDamaged)
	}
	return chunks, c.checkUses(doc, d.Images)
}

// checkedPicture returns stored bytes, if they are what the digest says.
func (c *buckets) checkedPicture(sum digest) ([]byte, error) {
	data, err := c.picture(sum)
	if err == nil && sha256.Sum256(data) != sum {
		err = fmt.Errorf("its bytes are others: %w", record.ErrDamaged)
	}
	return data, err
}

// checkUses compares the pictures that a document has with those that it is noted to have.
func (c *buckets) checkUses(doc []byte, images []rag.Image) error {
	want := map[digest]bool{}
	for _, img := range images {
		if len(img.Data) > 0 {
			want[sha256.Sum256(img.Data)] = true
		}
	}
	noted := 0
	for key := range withPrefix(c.pictures, doc) {
		if noted++; len(key) != docNoLen+sha256.Size || !want[digest(key[docNoLen:])] {
			return fmt.Errorf("a picture is noted that it does not have: %w", record.ErrDamaged)
		}
	}
	if noted != len(want) {
		return fmt.Errorf("it has %d pictures, and %d are noted: %w", len(want), noted, record.ErrDamaged)
	}
	return nil
}

// checkCounts finds records that belong to no document.
func (c *buckets) checkCounts(documents, chunks int) error {
	for _, b := range []struct {
		what   string
		bucket *bolt.Bucket
		want   int
	}{{"lists of passages", c.refs, documents}, {"texts", c.documents, documents}, {"passages", c.chunks, chunks}, {"names of passages", c.ids, chunks}} {
		n := 0
		for range withPrefix(b.bucket, nil) {
			n++
		}
		if n != b.want {
			return fmt.Errorf("there are %d %s for %d: %w", n, b.what, b.want, record.ErrDamaged)
		}
	}
	return nil
}

// checkPictures counts for all collections how many documents use each picture.
func checkPictures(tx *bolt.Tx) error {
	uses := map[digest]uint64{}
	err := collectionsBucket(tx).ForEachBucket(func(name []byte) error {
		for key := range withPrefix(openCollection(tx, string(name)).pictures, nil) {
			if len(key) != docNoLen+sha256.Size {
				return fmt.Errorf("a note of a picture in collection %q: %w", name, record.ErrDamaged)
			}
			uses[digest(key[docNoLen:])]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	root := tx.Bucket(rootBucket)
	c := &buckets{data: root.Bucket(pictureData), uses: root.Bucket(pictureUses)}
	for _, b := range []*bolt.Bucket{c.data, c.uses} {
		stored := 0
		for sum := range withPrefix(b, nil) {
			if stored++; len(sum) != sha256.Size || uses[digest(sum)] == 0 {
				return fmt.Errorf("picture %x is no document's: %w", sum, record.ErrDamaged)
			}
		}
		if stored != len(uses) {
			return fmt.Errorf("%d pictures are stored of %d: %w", stored, len(uses), record.ErrDamaged)
		}
	}
	for sum, want := range uses {
		n, err := c.pictureUses(sum[:])
		_, broken := c.checkedPicture(sum)
		if err := errors.Join(err, broken); err != nil {
			return fmt.Errorf("picture %x: %w", sum, err)
		}
		if n != want {
			return fmt.Errorf("picture %x is counted %d times and used by %d documents: %w", sum, n, want, record.ErrDamaged)
		}
	}
	return nil
}
