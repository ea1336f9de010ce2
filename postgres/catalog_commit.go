package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
)

// step is a change of a commit, checked and encoded before anything is touched.
type step struct {
	header []byte // record; nil: none
	remove string // URI; of a put as well: the old version goes first
	put    *putStep
}

type putStep struct {
	entry    rag.Entry
	rec      []byte // of the entry
	document []byte
	pictures map[string][]byte // by digest
	chunks   chunkRows
}

// chunkRows are the columns of a document's chunks, in order.
type chunkRows struct {
	ids    []string
	fields []*string
	from   []*string
	until  []*string
	recs   [][]byte
}

// Commit applies the changes in order and atomically. A document's chunk ID that another live chunk of the collection has
// is ErrInvalid, ErrLocked a lock on the collection that this catalog took and lost since.
func (c *Catalog) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	return c.commit(ctx, collection, changes, func(ctx context.Context, tx pgx.Tx) (id int64, err error) {
		err = tx.QueryRow(ctx, `
			insert into collections (name) values ($1) on conflict (name) do update set name = excluded.name returning id`, collection).Scan(&id)
		return id, err
	})
}

// commit applies changes in one transaction that begins with finding the collection.
func (c *Catalog) commit(ctx context.Context, collection string, changes []rag.Change, find func(context.Context, pgx.Tx) (id int64, err error)) error {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil {
		return err
	}
	steps := make([]step, len(changes))
	for i, change := range changes {
		var err error
		if steps[i], err = prepare(i, change); err != nil {
			return err
		}
	}
	return c.pool.inTx(ctx, func(tx pgx.Tx) error {
		if err := c.checkHeld(ctx, tx, collection); err != nil {
			return err
		}
		id, err := find(ctx, tx)
		if err != nil || len(steps) == 0 {
			return err
		}
		w := commitWork{id: id, uses: map[string]int{}}
		for i := range steps {
			w.queue(&steps[i])
		}
		if err := tx.SendBatch(ctx, &w.batch).Close(); err != nil {
			return taken(err)
		}
		return w.finish(ctx, tx)
	})
}

// taken says what it means that a key is there already: no two live chunks have one ID.
func taken(err error) error {
	if isCode(err, "23505") {
		return fmt.Errorf("a chunk ID is taken by another live chunk: %w: %w", err, rag.ErrInvalid)
	}
	return err
}

// prepare checks and encodes the i-th change.
func prepare(i int, c rag.Change) (s step, err error) {
	switch {
	case c.Header != nil && c.Put == nil && c.Remove == "":
		s.header, err = encode(*c.Header)
	case c.Put != nil && c.Header == nil && c.Remove == "":
		s.remove = c.Put.Entry.URI
		s.put, err = preparePut(c.Put)
	case c.Remove != "" && c.Header == nil && c.Put == nil:
		s.remove = textOf(c.Remove)
	default:
		err = fmt.Errorf("change %d of a commit: exactly one of Header, Put and Remove must be set: %w", i, rag.ErrInvalid)
	}
	return s, err
}

func preparePut(rec *rag.Record) (p *putStep, err error) {
	uri := rec.Entry.URI
	if uri == "" || !isText(uri) {
		return nil, fmt.Errorf("put a document: its entry has the URI %q, which is empty or no text: %w", uri, rag.ErrInvalid)
	}
	p = &putStep{entry: rec.Entry, pictures: map[string][]byte{}}
	if p.rec, err = encode(rec.Entry); err != nil {
		return nil, fmt.Errorf("entry of %s: %w", uri, err)
	}
	doc := storedDocument{rec.Document}
	doc.Document.Images = slices.Clone(doc.Document.Images)
	for i := range doc.Document.Images {
		if img := &doc.Document.Images[i]; len(img.Data) > 0 {
			digest := sha256.Sum256(img.Data)
			p.pictures[string(digest[:])] = img.Data
			img.Data = digest[:]
		}
	}
	if p.document, err = encode(doc); err != nil {
		return nil, fmt.Errorf("document %s: %w", uri, err)
	}
	ordered := slices.Clone(rec.Chunks)
	slices.SortStableFunc(ordered, func(a, b rag.Chunk) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for i := range ordered {
		if err := p.chunks.add(&ordered[i]); err != nil {
			return nil, fmt.Errorf("chunk %d of %s: %w", ordered[i].Ordinal, uri, err)
		}
	}
	return p, nil
}

func (r *chunkRows) add(c *rag.Chunk) error {
	if c.ID == "" || !isText(c.ID) {
		return fmt.Errorf("its ID is %q, which is empty or no text: %w", c.ID, rag.ErrInvalid)
	}
	rec, err := encode(*c)
	if err != nil {
		return err
	}
	var fields *string
	if data, err := fieldsJSON(c.Fields()); err == nil { // else the record alone has them, see [Catalog.Scan]
		s := string(data)
		fields = &s
	}
	r.ids = append(r.ids, c.ID)
	r.fields = append(r.fields, fields)
	r.from, r.until = append(r.from, seconds(c.Validity.From)), append(r.until, seconds(c.Validity.Until))
	r.recs = append(r.recs, rec)
	return nil
}

// commitWork is what a commit does, and what it found: how the counts of the collection change.
type commitWork struct {
	id        int64
	batch     pgx.Batch
	documents int
	chunks    int
	uses      map[string]int    // of pictures, by digest
	pictures  map[string][]byte // bytes of those that are put
}

// queue adds the statements of a step.
func (w *commitWork) queue(s *step) {
	if s.header != nil {
		w.batch.Queue(`update collections set header = $2 where id = $1`, w.id, s.header)
		return
	}
	w.batch.Queue(`delete from chunks where collection = $1 and uri = $2`, w.id, s.remove)
	w.batch.Queue(`delete from documents where collection = $1 and uri = $2 returning chunks, pictures`, w.id, s.remove).Query(func(rows pgx.Rows) error {
		var chunks int
		var pictures [][]byte
		_, err := pgx.ForEachRow(rows, []any{&chunks, &pictures}, func() error {
			w.documents--
			w.chunks -= chunks
			for _, digest := range pictures {
				w.uses[string(digest)]--
			}
			return nil
		})
		return err
	})
	if s.put != nil {
		w.put(s.put)
	}
}

func (w *commitWork) put(p *putStep) {
	w.documents++
	w.chunks += len(p.chunks.ids)
	digests := make([][]byte, 0, len(p.pictures))
	for _, digest := range slices.Sorted(maps.Keys(p.pictures)) {
		digests = append(digests, []byte(digest))
		w.uses[digest]++
		if w.pictures == nil {
			w.pictures = map[string][]byte{}
		}
		w.pictures[digest] = p.pictures[digest]
	}
	w.batch.Queue(`
		insert into documents (collection, uri, title, chunks, ingested, pictures, entry, document) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		w.id, p.entry.URI, textOf(p.entry.Title), len(p.chunks.ids), seconds(p.entry.Ingested), digests, p.rec, p.document)
	if len(p.chunks.ids) > 0 {
		w.batch.Queue(`
			insert into chunks (collection, id, uri, place, fields, valid_from, valid_until, chunk)
			select $1, c.id, $2, c.n, c.fields::jsonb, c.valid_from::numeric, c.valid_until::numeric, c.chunk
			from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[]) with ordinality
				as c(id, fields, valid_from, valid_until, chunk, n)`,
			w.id, p.entry.URI, p.chunks.ids, p.chunks.fields, p.chunks.from, p.chunks.until, p.chunks.recs)
	}
}

// finish brings the counts and the pictures up to date with what the statements found.
func (w *commitWork) finish(ctx context.Context, tx pgx.Tx) error {
	if w.documents != 0 || w.chunks != 0 {
		_, err := tx.Exec(ctx, `update collections set documents = documents + $2, chunks = chunks + $3 where id = $1`, w.id, w.documents, w.chunks)
		if err != nil {
			return err
		}
	}
	var more, less, data [][]byte
	var moreBy, lessBy []int
	for _, digest := range slices.Sorted(maps.Keys(w.uses)) {
		switch n := w.uses[digest]; {
		case n > 0:
			more, moreBy, data = append(more, []byte(digest)), append(moreBy, n), append(data, w.pictures[digest])
		case n < 0:
			less, lessBy = append(less, []byte(digest)), append(lessBy, -n)
		}
	}
	if len(more) > 0 {
		var b pgx.Batch
		b.Queue(`insert into pictures (digest, data) select * from unnest($1::bytea[], $2::bytea[]) on conflict do nothing`, more, data)
		b.Queue(`
			insert into picture_uses (collection, digest, documents) select $1, * from unnest($2::bytea[], $3::bigint[])
			on conflict (collection, digest) do update set documents = picture_uses.documents + excluded.documents`, w.id, more, moreBy)
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
	}
	if len(less) == 0 {
		return nil
	}
	var b pgx.Batch
	b.Queue(`
		update picture_uses u set documents = u.documents - l.n from unnest($2::bytea[], $3::bigint[]) as l(digest, n)
		where u.collection = $1 and u.digest = l.digest`, w.id, less, lessBy)
	b.Queue(`delete from picture_uses where collection = $1 and digest = any($2) and documents <= 0`, w.id, less)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	return dropUnused(ctx, tx, less)
}

// dropUnused removes the pictures among these that no document has. One that another transaction takes at this moment makes
// one of the two fail on the reference, and try again.
func dropUnused(ctx context.Context, tx pgx.Tx, digests [][]byte) error {
	_, err := tx.Exec(ctx, `
		delete from pictures p where digest = any($1) and not exists (select from picture_uses u where u.digest = p.digest)`, digests)
	return err
}
