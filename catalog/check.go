package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

var _ rag.Checker = (*Bolt)(nil)

// What helps where something is damaged: of the records of a document nothing has a second copy, the others follow from them.
const (
	makeAgain = ": `rag ingest --force` with its source makes it anew, `rag delete` takes it out, `rag verify --repair` does that with all that are damaged, or take a backup"
	deriveIt  = ": `rag verify --repair` puts it right"
)

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
		note := func(uri string, err error, toDo string) {
			if err != nil {
				problems = append(problems, rag.Problem{URI: uri, Message: err.Error() + toDo})
			}
		}
		chunks, numbers := 0, map[uint64]bool{}
		for uri, rec := range c.entriesAfter("", "") {
			if err := ctx.Err(); err != nil {
				return err
			}
			w, err := c.whole(uri, rec)
			if e, err := line(uri, rec); err == nil {
				numbers[e.docNo] = true
				chunks += e.chunks
			}
			if err != nil {
				note(string(uri), err, makeAgain)
				continue
			}
			note(string(uri), c.checkDerived(&w), deriveIt)
		}
		note("", c.checkOwners(numbers, chunks), deriveIt)
		note("", c.checkPictures(), deriveIt)
		return nil
	})
	return problems, err
}

// checkDerived compares a whole document with what follows from it.
func (c *buckets) checkDerived(w *wholeDocument) error {
	if !c.lists(w) {
		return fmt.Errorf("the list of its passages: %w", record.ErrDamaged)
	}
	for i, chunk := range w.chunks {
		if !bytes.Equal(c.ids.Get([]byte(chunk.ID)), chunkKey(w.no, i)) {
			return fmt.Errorf("the place of passage %d is not known: %w", i, record.ErrDamaged)
		}
	}
	has, noted := w.pictures(), 0
	for key := range withPrefix(c.pictures, numberKey(w.no)) {
		if noted++; len(key) != docNoLen+sha256.Size || !has[digest(key[docNoLen:])] {
			return fmt.Errorf("a picture is noted that it does not have: %w", record.ErrDamaged)
		}
	}
	if noted != len(has) {
		return fmt.Errorf("it has %d pictures, and %d are noted: %w", len(has), noted, record.ErrDamaged)
	}
	return nil
}

// checkedPicture returns stored bytes, if they are what the digest says.
func (c *buckets) checkedPicture(sum digest) ([]byte, error) {
	data, err := c.picture(sum)
	if err == nil && sha256.Sum256(data) != sum {
		err = fmt.Errorf("its bytes are others: %w", record.ErrDamaged)
	}
	return data, err
}

// checkOwners finds records that belong to no document.
func (c *buckets) checkOwners(numbers map[uint64]bool, chunks int) error {
	for _, no := range c.numbers() {
		if !numbers[no] {
			return fmt.Errorf("records of %q belong to no document: %w", c.uriOf(numberKey(no)), record.ErrDamaged)
		}
	}
	names := 0
	for range withPrefix(c.ids, nil) {
		names++
	}
	if names != chunks {
		return fmt.Errorf("%d passages are named of %d: %w", names, chunks, record.ErrDamaged)
	}
	return nil
}

// checkPictures compares how often pictures are used, in all collections, with how often they are counted. Whether their bytes
// are right is seen with the documents that have them.
func (c *buckets) checkPictures() error {
	uses, err := c.usesOfAll()
	if err != nil {
		return err
	}
	for _, b := range []bucket{c.data, c.uses} {
		for sum := range withPrefix(b, nil) {
			if uses[string(sum)] == 0 {
				return fmt.Errorf("picture %x is no document's: %w", sum, record.ErrDamaged)
			}
		}
	}
	for sum, want := range uses {
		n, err := c.pictureUses([]byte(sum))
		if err != nil {
			return fmt.Errorf("picture %x: %w", sum, err)
		}
		if n != want {
			return fmt.Errorf("picture %x is counted %d times and used by %d documents: %w", sum, n, want, record.ErrDamaged)
		}
	}
	return nil
}
