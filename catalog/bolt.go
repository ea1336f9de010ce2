package catalog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/pages"
)

// Bolt is a catalog in <dir>/rag.db. A commit is one transaction. It is safe for concurrent use.
type Bolt struct {
	db *boltkv.DB

	mu      sync.Mutex
	counted *countedInfos // nil until Collections was first asked
}

// countedInfos is what Collections counted, and the transaction after which it did: every search asks, and counting
// reads the whole ledger. A compacted file counts its transactions anew.
type countedInfos struct {
	db    *bolt.DB
	tx    int
	infos []rag.CollectionInfo
}

var _ rag.Catalog = (*Bolt)(nil)

// OpenBolt opens the catalog in a directory, and makes the directory where it is missing. ErrLocked names the process
// that has it open; a file that is corrupted, of a newer version or not ours is ErrInvalid and stays untouched.
func OpenBolt(dir string) (*Bolt, error) {
	db, err := boltkv.Open(dir)
	if err != nil {
		return nil, kind(err)
	}
	b := &Bolt{db: db}
	if err := b.view(checkVersion); err != nil {
		return nil, closeAfter(db, err)
	}
	return b, nil
}

func closeAfter(db *boltkv.DB, err error) error {
	_ = db.Close() // the error at hand says more
	return err
}

// Close closes the catalog; the file is closed with its last user.
func (b *Bolt) Close() error { return b.db.Close() }

func (b *Bolt) view(fn func(*bolt.Tx) error) error { return kind(b.db.View(fn)) }

// Entry returns the ledger line of a URI, or ErrNotFound.
func (b *Bolt) Entry(ctx context.Context, collection, uri string) (e rag.Entry, err error) {
	if err := ctx.Err(); err != nil {
		return rag.Entry{}, err
	}
	err = b.view(func(tx *bolt.Tx) error {
		c, rec := find(tx, collection, uri)
		if rec == nil {
			return notFound(collection, uri)
		}
		e, err = c.entry([]byte(uri), rec)
		return err
	})
	if err != nil {
		return rag.Entry{}, err
	}
	return e, nil
}

// Document returns a stored document with its text and images, or ErrNotFound.
func (b *Bolt) Document(ctx context.Context, collection, uri string) (d rag.Document, err error) {
	if err := ctx.Err(); err != nil {
		return rag.Document{}, err
	}
	var damage damages
	err = b.view(func(tx *bolt.Tx) error {
		c, rec := find(tx, collection, uri)
		if rec == nil {
			return notFound(collection, uri)
		}
		if d, err = c.document([]byte(uri), rec); isDamage(err) {
			damage.add(uri, err)
			return nil
		}
		return err
	})
	if err = cmp.Or(err, damage.err()); err != nil {
		return rag.Document{}, err
	}
	return d, nil
}

// Image returns the bytes of a picture that a document of the collection has, or ErrNotFound.
func (b *Bolt) Image(ctx context.Context, collection, id string) (data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var damage damages
	err = b.view(func(tx *bolt.Tx) error {
		sum, ok := digestOf(id)
		c := openCollection(tx, collection)
		if !ok || c == nil {
			return noPicture(collection, id)
		}
		doc := c.withPicture(sum)
		if doc == nil {
			return noPicture(collection, id)
		}
		if data, err = c.picture(sum); isDamage(err) {
			damage.add(c.uriOf(doc), fmt.Errorf("picture %s: %w", id, err))
			return nil
		}
		return err
	})
	return data, cmp.Or(err, damage.err())
}

// find returns the collection and the entry record of a URI, nil where there is none.
func find(tx *bolt.Tx, collection, uri string) (c *buckets, rec []byte) {
	if c = openCollection(tx, collection); c == nil {
		return nil, nil
	}
	return c, c.entries.Get([]byte(uri))
}

// Commit applies the changes in order and atomically. A document's chunk ID that another live chunk of the collection has
// is ErrInvalid.
func (b *Bolt) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	steps, err := prepare(collection, changes)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		if known, err := b.known(collection); err != nil || known {
			return err
		}
	}
	return kind(b.db.Update(func(tx *bolt.Tx) error {
		c, err := makeCollection(tx, collection)
		if err != nil {
			return err
		}
		for i := range steps {
			if err := c.apply(&steps[i]); err != nil {
				return err
			}
		}
		return nil
	}))
}

// known reports whether there is a collection of this name: a write transaction that changes nothing still writes.
func (b *Bolt) known(collection string) (known bool, err error) {
	err = b.view(func(tx *bolt.Tx) error {
		known = openCollection(tx, collection) != nil
		return nil
	})
	return known, err
}

// Chunks returns the live chunks among ids, in the order asked. Where some are damaged it returns the others with a DamageError.
func (b *Bolt) Chunks(ctx context.Context, collection string, ids []string) (chunks []rag.Chunk, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var damage damages
	err = b.view(func(tx *bolt.Tx) error {
		c := openCollection(tx, collection)
		if c == nil {
			return nil
		}
		chunks = make([]rag.Chunk, 0, len(ids))
		for _, id := range ids {
			chunk, key, err := c.chunk(id)
			switch {
			case isDamage(err):
				damage.add(c.uriOf(key[:min(docNoLen, len(key))]), err)
			case err != nil:
				return err
			case key != nil:
				chunks = append(chunks, chunk)
			}
		}
		return nil
	})
	return chunks, cmp.Or(err, damage.err())
}

// pageDocs and pageChunks bound what Scan and Entries read in one transaction: the consumer runs outside of it, since a
// write inside a read transaction would wait for itself. A document is always read whole.
const (
	pageDocs   = 64
	pageChunks = 512
)

// scanned is a passage that a scan yields, or what is damaged in its place.
type scanned struct {
	chunk  rag.Chunk
	damage error
}

// Scan yields the live chunks whose Fields and Validity match the filter, by URI and ordinal. Each document is seen whole
// in one version; documents committed meanwhile may or may not be seen. In place of those that are damaged it yields the
// URI with a DamageError, and goes on if its caller does.
func (b *Bolt) Scan(ctx context.Context, collection string, f rag.Filter) iter.Seq2[rag.Chunk, error] {
	all := pages.Join(ctx, "", f.Validate(), func(after string) (page []scanned, last string, err error) {
		err = b.view(func(tx *bolt.Tx) error {
			page, last, err = scanPage(tx, collection, f, after)
			return err
		})
		return page, last, err
	})
	return func(yield func(rag.Chunk, error) bool) {
		for s, err := range all {
			if !yield(s.chunk, cmp.Or(err, s.damage)) {
				return
			}
		}
	}
}

// scanPage reads the matching chunks of the next documents after a URI; last is "" at the end.
func scanPage(tx *bolt.Tx, collection string, f rag.Filter, after string) (page []scanned, last string, err error) {
	c := openCollection(tx, collection)
	if c == nil {
		return nil, "", nil
	}
	docs, seen := 0, 0
	for uri, rec := range c.entriesAfter(after, "") {
		chunks, as, err := c.scan(uri, rec)
		if err != nil && !isDamage(err) {
			return nil, "", err
		}
		for _, chunk := range chunks {
			if f.IsZero() || f.Match(chunk.Fields(), chunk.Validity) {
				page = append(page, scanned{chunk: chunk})
			}
			seen++
		}
		if err != nil && (f.IsZero() || as.DocID != "" && f.Match(as.Fields(), as.Validity)) {
			var damage damages
			damage.add(as.URI, err)
			page = append(page, scanned{rag.Chunk{URI: as.URI}, damage.err()})
		}
		if docs++; docs == pageDocs || seen >= pageChunks {
			return page, string(uri), nil
		}
	}
	return page, "", nil
}

// scan reads the passages of a document. Of one that is damaged it returns those that can be read, with the error; as is a
// passage that says of the document what its line in the ledger does, and nothing but its URI if that cannot be read.
func (c *buckets) scan(uri, rec []byte) (chunks []rag.Chunk, as rag.Chunk, err error) {
	as.URI = string(uri)
	e, err := line(uri, rec)
	if err != nil {
		return nil, as, err
	}
	as = rag.Chunk{URI: e.URI, DocID: e.DocID, Title: e.Title, Language: e.Language, Meta: e.Meta, Validity: e.Validity}
	for _, rec := range withPrefix(c.chunks, numberKey(e.docNo)) {
		chunk, broken := decodeChunk(rec)
		if broken != nil {
			err = cmp.Or(err, fmt.Errorf("passage %d: %w", len(chunks), broken))
			continue
		}
		chunks = append(chunks, chunk)
	}
	if err == nil && len(chunks) != e.chunks {
		err = fmt.Errorf("it has %d passages of %d: %w", len(chunks), e.chunks, record.ErrDamaged)
	}
	return chunks, as, err
}

// Entries yields the lines of the ledger whose URI begins with prefix and comes behind after, by URI. Those committed meanwhile
// may or may not be seen.
func (b *Bolt) Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[rag.Entry, error] {
	return pages.Join(ctx, after, nil, func(after string) (page []rag.Entry, last string, err error) {
		err = b.view(func(tx *bolt.Tx) error {
			c := openCollection(tx, collection)
			if c == nil {
				return nil
			}
			for uri, rec := range c.entriesAfter(after, prefix) {
				e, err := c.entry(uri, rec)
				if err != nil {
					return fmt.Errorf("document %s: %w", uri, err)
				}
				if page = append(page, e); len(page) == pageDocs {
					last = string(uri)
					return nil
				}
			}
			return nil
		})
		return page, last, err
	})
}

// Collections lists the collections by name.
func (b *Bolt) Collections(ctx context.Context) (infos []rag.CollectionInfo, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = b.view(func(tx *bolt.Tx) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.counted == nil || b.counted.db != tx.DB() || b.counted.tx != tx.ID() {
			counted, err := countCollections(tx)
			if err != nil {
				return err
			}
			b.counted = &countedInfos{tx.DB(), tx.ID(), counted}
		}
		for _, info := range b.counted.infos {
			info.Header.Pending, info.Header.Touched = slices.Clone(info.Header.Pending), slices.Clone(info.Header.Touched)
			infos = append(infos, info)
		}
		return nil
	})
	return infos, err
}

func countCollections(tx *bolt.Tx) (infos []rag.CollectionInfo, err error) {
	all := collectionsBucket(tx)
	if all == nil {
		return nil, nil
	}
	err = all.ForEachBucket(func(name []byte) error {
		info, err := openCollection(tx, string(name)).info(string(name))
		if err != nil {
			return fmt.Errorf("collection %q: %w", name, err)
		}
		infos = append(infos, info)
		return nil
	})
	return infos, err
}

// Drop removes a collection with its pictures; an unknown one is not an error.
func (b *Bolt) Drop(ctx context.Context, collection string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if known, err := b.known(collection); err != nil || !known {
		return err
	}
	return kind(b.db.Update(func(tx *bolt.Tx) error {
		if openCollection(tx, collection) == nil {
			return nil
		}
		c, err := makeCollection(tx, collection) // a damaged one may lack a part
		if err != nil {
			return err
		}
		for key := range withPrefix(c.pictures, nil) {
			if err := c.unusePicture(key); err != nil {
				return err
			}
		}
		return collectionsBucket(tx).DeleteBucket([]byte(collection))
	}))
}

// checkVersion reports a catalog that a newer version of the program has laid out.
func checkVersion(tx *bolt.Tx) error {
	root := tx.Bucket(rootBucket)
	if root == nil {
		return nil
	}
	_, _, err := record.Open(root.Get(versionKey), layoutVersion)
	return err
}
