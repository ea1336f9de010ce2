package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"encoding/hex"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/pages"
)

// Catalog is the system of record in a database. A commit is one transaction. It is safe for concurrent use.
type Catalog struct {
	pool *pool

	mu   sync.Mutex
	held map[string]int64 // collections whose lock this catalog holds, and which taking of it
}

var (
	_ rag.Catalog          = (*Catalog)(nil)
	_ rag.CollectionLocker = (*Catalog)(nil)
)

// OpenCatalog opens the catalog in a database, and makes its tables where they are missing. The caller closes it. Errors:
// ErrInvalid for settings that cannot be right and for tables of a newer version, ErrUnavailable if the database does not
// answer.
func OpenCatalog(ctx context.Context, c Config) (*Catalog, error) {
	p, err := openPool(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Catalog{pool: p, held: map[string]int64{}}, nil
}

// Close gives the connections back.
func (c *Catalog) Close() error {
	c.pool.release()
	return nil
}

// storedDocument is a document's record: the pictures' bytes lie elsewhere, and Data holds their digest.
type storedDocument struct{ Document rag.Document }

// Entry returns the ledger line of a URI, or ErrNotFound.
func (c *Catalog) Entry(ctx context.Context, collection, uri string) (rag.Entry, error) {
	var rec []byte
	err := c.row(ctx, collection, uri, `
		select d.entry from documents d join collections c on c.id = d.collection where c.name = $1 and d.uri = $2`, &rec)
	if err != nil {
		return rag.Entry{}, err
	}
	return decodeEntry(uri, rec)
}

func decodeEntry(uri string, rec []byte) (rag.Entry, error) {
	e, err := decode[rag.Entry](rec)
	if err != nil {
		return rag.Entry{}, fmt.Errorf("entry %s: %w", uri, err)
	}
	return e, nil
}

// row reads what the catalog has of a document, or ErrNotFound.
func (c *Catalog) row(ctx context.Context, collection, uri, query string, into ...any) error {
	none := fmt.Errorf("no document %s in collection %q: %w", uri, collection, rag.ErrNotFound)
	if !isText(collection) || !isText(uri) {
		return errors.Join(ctx.Err(), none)
	}
	return c.pool.do(ctx, func(ctx context.Context) error {
		err := c.pool.QueryRow(ctx, query, collection, uri).Scan(into...)
		if errors.Is(err, pgx.ErrNoRows) {
			return none
		}
		return err
	})
}

// Document returns a stored document with its text and images, or ErrNotFound.
func (c *Catalog) Document(ctx context.Context, collection, uri string) (rag.Document, error) {
	var rec []byte
	var digests, data [][]byte
	err := c.row(ctx, collection, uri, `
		select d.document, d.pictures, array(
			select p.data from unnest(d.pictures) with ordinality as u(digest, n) join pictures p using (digest) order by n)
		from documents d join collections c on c.id = d.collection where c.name = $1 and d.uri = $2`, &rec, &digests, &data)
	if err != nil {
		return rag.Document{}, err
	}
	stored, err := decode[storedDocument](rec)
	if err != nil || len(data) != len(digests) {
		return rag.Document{}, fmt.Errorf("document %s with %d pictures of %d: %w", uri, len(data), len(digests), errors.Join(err, rag.ErrInvalid))
	}
	byDigest := make(map[string][]byte, len(data))
	for i, digest := range digests {
		byDigest[string(digest)] = data[i]
	}
	for i := range stored.Document.Images {
		if img := &stored.Document.Images[i]; len(img.Data) > 0 {
			img.Data = append([]byte{}, byDigest[string(img.Data)]...) // equal pictures share nothing
		}
	}
	return stored.Document, nil
}

// Image returns the bytes of a picture that a document of the collection has, or ErrNotFound.
func (c *Catalog) Image(ctx context.Context, collection, id string) (data []byte, err error) {
	none := fmt.Errorf("no picture %q in collection %q: %w", id, collection, rag.ErrNotFound)
	digest, err := hex.DecodeString(id)
	if err != nil || !isText(collection) {
		return nil, errors.Join(ctx.Err(), none)
	}
	err = c.pool.do(ctx, func(ctx context.Context) error {
		err := c.pool.QueryRow(ctx, `
			select p.data from collections c join picture_uses u on u.collection = c.id join pictures p using (digest)
			where c.name = $1 and digest = $2`, collection, digest).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return none
		}
		return err
	})
	return data, err
}

// Chunks returns the live chunks among ids, in the order asked.
func (c *Catalog) Chunks(ctx context.Context, collection string, ids []string) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil || len(ids) == 0 || !isText(collection) {
		return nil, err
	}
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		if isText(id) {
			texts = append(texts, id)
		}
	}
	var chunks []rag.Chunk
	err := c.pool.do(ctx, func(ctx context.Context) error {
		rows, err := c.pool.Query(ctx, `
			select k.chunk from unnest($2::text[]) with ordinality as asked(id, n)
			join chunks k on k.id = asked.id join collections c on c.id = k.collection
			where c.name = $1 order by n`, collection, texts)
		if err != nil {
			return err
		}
		chunks, err = pgx.CollectRows(rows, scanChunk)
		return err
	})
	return chunks, err
}

func scanChunk(row pgx.CollectableRow) (rag.Chunk, error) {
	var rec []byte
	if err := row.Scan(&rec); err != nil {
		return rag.Chunk{}, err
	}
	return decode[rag.Chunk](rec)
}

// A page of [Catalog.Scan] and of [Catalog.Entries] ends at whichever comes first. A document is always read whole.
const (
	pageDocs   = 128
	pageChunks = 512
)

// Scan yields the live chunks whose Fields and Validity match the filter, by URI and ordinal. Each document is seen whole in
// one version; documents committed meanwhile may or may not be seen. No connection is held while the consumer works.
func (c *Catalog) Scan(ctx context.Context, collection string, f rag.Filter) iter.Seq2[rag.Chunk, error] {
	return pages.Join(ctx, "", f.Validate(), func(after string) (page []rag.Chunk, last string, err error) {
		if !isText(collection) {
			return nil, "", nil
		}
		// A row without fields holds what JSON cannot: the condition is for Go alone.
		a := args{collection, after}
		query := fmt.Sprintf(`
			with page as (
				select collection, uri from (
					select d.collection, d.uri, sum(d.chunks) over (order by d.uri) - d.chunks as before
					from documents d join collections c on c.id = d.collection
					where c.name = $1 and d.uri > $2 order by d.uri limit %d) as next
				where before < %d)
			select p.uri, k.chunk from page p
			left join chunks k on k.collection = p.collection and k.uri = p.uri and (k.fields is null or %s)
			order by p.uri, k.place`, pageDocs, pageChunks, a.where(f))
		err = c.pool.do(ctx, func(ctx context.Context) error {
			page, last = nil, ""
			rows, err := c.pool.Query(ctx, query, a...)
			if err != nil {
				return err
			}
			var rec []byte
			_, err = pgx.ForEachRow(rows, []any{&last, &rec}, func() error {
				if rec == nil { // a document of which no chunk matches
					return nil
				}
				chunk, err := decode[rag.Chunk](rec)
				if err == nil && f.Match(chunk.Fields(), chunk.Validity) {
					page = append(page, chunk)
				}
				return err
			})
			return err
		})
		return page, last, err
	})
}

// Entries yields the lines of the ledger whose URI begins with prefix and comes behind after, by URI. Those committed
// meanwhile may or may not be seen. No connection is held while the consumer works.
func (c *Catalog) Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[rag.Entry, error] {
	return pages.Join(ctx, textOf(after), nil, func(after string) (page []rag.Entry, last string, err error) {
		if !isText(collection) || !isText(prefix) {
			return nil, "", nil
		}
		err = c.pool.do(ctx, func(ctx context.Context) error {
			page, last = nil, ""
			rows, err := c.pool.Query(ctx, `
				select d.uri, d.entry from documents d join collections c on c.id = d.collection
				where c.name = $1 and d.uri > $2 and d.uri >= $3 and ($4 = '' or d.uri < $4)
				order by d.uri limit $5`, collection, after, prefix, afterPrefix(prefix), pageDocs)
			if err != nil {
				return err
			}
			var rec []byte
			_, err = pgx.ForEachRow(rows, []any{&last, &rec}, func() error {
				e, err := decodeEntry(last, rec)
				page = append(page, e)
				return err
			})
			return err
		})
		if len(page) < pageDocs {
			last = ""
		}
		return page, last, err
	})
}

// Collections lists the collections by name. Pending in their headers has also what workers are changing.
func (c *Catalog) Collections(ctx context.Context) (infos []rag.CollectionInfo, err error) {
	err = c.pool.do(ctx, func(ctx context.Context) error {
		rows, err := c.pool.Query(ctx, `
			select name, header, documents, chunks,
				(select count(*) from picture_uses u where u.collection = c.id),
				(select max(ingested)::text from documents d where d.collection = c.id),
				(select array_agg(distinct u) from queue q, unnest(q.changing || case when q.stale = '{}' then '{}' else array[q.uri] end) u
					where q.collection = c.name and (q.touched <> '{}' or q.stale <> '{}'))
			from collections c order by name`)
		if err != nil {
			return err
		}
		infos, err = pgx.CollectRows(rows, scanInfo)
		return err
	})
	return infos, err
}

func scanInfo(row pgx.CollectableRow) (info rag.CollectionInfo, err error) {
	var header []byte
	var updated *string
	var changing []string // by workers
	if err := row.Scan(&info.Name, &header, &info.Documents, &info.Chunks, &info.Images, &updated, &changing); err != nil {
		return info, err
	}
	if info.Updated, err = instant(updated); err != nil || header == nil {
		return info, err
	}
	if info.Header, err = decode[rag.Header](header); err != nil {
		return info, fmt.Errorf("header of collection %q: %w", info.Name, err)
	}
	info.Header.Pending = append(info.Header.Pending, changing...)
	return info, nil
}

// Drop removes a collection with its pictures and its queue; an unknown one is not an error.
func (c *Catalog) Drop(ctx context.Context, collection string) error {
	if !isText(collection) {
		return ctx.Err()
	}
	return c.pool.inTx(ctx, func(tx pgx.Tx) error {
		if err := c.checkHeld(ctx, tx, collection); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from queue where collection = $1`, collection); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			with dropped as (select id from collections where name = $1 for update)
			delete from picture_uses where collection in (select id from dropped) returning digest`, collection)
		if err != nil {
			return err
		}
		digests, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from collections where name = $1`, collection); err != nil {
			return err
		}
		return dropUnused(ctx, tx, digests)
	})
}
