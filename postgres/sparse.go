package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/pages"
	"github.com/seed-d8745b77/rag/internal/terms"
)

// SparseConfig holds the settings of [OpenSparse]. K1 and B work at search time: changing them needs no new ingest. The
// weights decide what is stored, and are part of the fingerprint.
type SparseConfig struct {
	Config
	K1 float64 `json:"k1,omitzero" range:"(0,1000000]"` // how much repetition of a term counts, > 0; 0: 1.2
	B  float64 `json:"b,omitzero" range:"(0,1]"`        // how much long passages are marked down, 0 to 1; 0: 0.75

	Title    float64 `json:"title_weight" range:"[0,16]"`    // how often a word of the title counts, where one of the text counts once; in steps of 0.25, up to 16; 0: titles are not looked at
	Headings float64 `json:"headings_weight" range:"[0,16]"` // likewise of the headings
}

// Sparse ranks passages by their words as the embedded index does: by BM25 over the same terms, with statistics that are
// exact at each moment, computed in SQL. It is safe for concurrent use; writers of one collection take turns.
type Sparse struct {
	pool  *pool
	k1, b float64
	maker terms.Maker
}

var (
	_ rag.SparseIndex   = (*Sparse)(nil)
	_ rag.IDLister      = (*Sparse)(nil)
	_ rag.Dropper       = (*Sparse)(nil)
	_ rag.Coverer       = (*Sparse)(nil)
	_ rag.Highlighter   = (*Sparse)(nil)
	_ rag.Fingerprinter = (*Sparse)(nil)
)

// OpenSparse opens the index in a database, and makes its tables where they are missing. The caller closes it. Errors:
// ErrInvalid for settings out of range and for tables of a newer version, ErrUnavailable if the database does not answer.
func OpenSparse(ctx context.Context, c SparseConfig) (*Sparse, error) {
	params, err := bm25.Params{K1: c.K1, B: c.B}.Chosen()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w: %w", err, rag.ErrInvalid)
	}
	fields, err := terms.NewFields(c.Title, c.Headings)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w: %w", err, rag.ErrInvalid)
	}
	p, err := openPool(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	return &Sparse{pool: p, k1: params.K1 * fields.Unit(), b: params.B, maker: terms.Maker{Analyzer: analyze.New(nil), Fields: fields}}, nil
}

// Close gives the connections back.
func (x *Sparse) Close() error {
	x.pool.release()
	return nil
}

// Fingerprint names the index, the analyzer and the settings that decide what is stored of a passage.
func (x *Sparse) Fingerprint() string { return "pgbm25/1/" + x.maker.Fingerprint() }

// wordCollection is what the index knows of a collection.
type wordCollection struct {
	id        int64
	stemmings []string // of its passages, the most frequent first
}

// find returns a collection, or pgx.ErrNoRows; one that another analyzer made is ErrFingerprint.
func (x *Sparse) find(ctx context.Context, collection string) (c wordCollection, err error) {
	var by string
	err = x.pool.QueryRow(ctx, `
		select id, fingerprint, array(
			select stemming from word_totals t where t.collection = c.id and passages > 0 order by passages desc, stemming)
		from word_collections c where name = $1`, collection).Scan(&c.id, &by, &c.stemmings)
	if err == nil {
		err = x.check(collection, by)
	}
	return c, err
}

func (x *Sparse) check(collection, by string) error {
	if mine := x.Fingerprint(); by != mine {
		return fmt.Errorf("sparse index: collection %q was indexed by %s, and this index is %s: use the settings it was built with, or build it anew with `rag reindex`: %w",
			collection, by, mine, rag.ErrFingerprint)
	}
	return nil
}

// vocabulary is what a question's words are looked for in. Prefixes are only there for a context to ask the database with.
func (c wordCollection) vocabulary() terms.Vocabulary {
	return terms.Vocabulary{Stemmings: c.stemmings}
}

// read calls what reads a collection; for an unknown one it does not.
func (x *Sparse) read(ctx context.Context, collection string, call func(ctx context.Context, c wordCollection) error) error {
	if err := ctx.Err(); err != nil || !isText(collection) {
		return err
	}
	return x.pool.do(ctx, func(ctx context.Context) error {
		c, err := x.find(ctx, collection)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return call(ctx, c)
	})
}

// Upsert adds the records in one transaction, replacing those of the same ID; of two with one ID in the call the later one
// stays. An ID that is empty or no text is ErrInvalid.
func (x *Sparse) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil || len(recs) == 0 {
		return err
	}
	passages, err := x.passages(ctx, recs)
	if err != nil {
		return err
	}
	return x.pool.inTx(ctx, func(tx pgx.Tx) error {
		id, err := x.turn(ctx, tx, collection, true)
		if err != nil {
			return err
		}
		totals := totals{}
		if err := totals.remove(ctx, tx, id, slices.Sorted(maps.Keys(passages))); err != nil {
			return err
		}
		if err := totals.add(ctx, tx, id, passages); err != nil {
			return err
		}
		return totals.keep(ctx, tx, id)
	})
}

// turn takes the collection's turn to write until the transaction ends, and makes the collection where there is none, if it
// shall; else that is pgx.ErrNoRows.
func (x *Sparse) turn(ctx context.Context, tx pgx.Tx, collection string, create bool) (id int64, err error) {
	if create {
		_, err = tx.Exec(ctx, `insert into word_collections (name, fingerprint) values ($1, $2) on conflict do nothing`, collection, x.Fingerprint())
		if err != nil {
			return 0, err
		}
	}
	var by string
	err = tx.QueryRow(ctx, `select id, fingerprint from word_collections where name = $1 for update`, collection).Scan(&id, &by)
	if err != nil {
		return 0, err
	}
	return id, x.check(collection, by)
}

// Delete removes records; absent IDs and an unknown collection are not an error.
func (x *Sparse) Delete(ctx context.Context, collection string, ids []string) error {
	if ids = textsOf(ids); len(ids) == 0 || !isText(collection) {
		return ctx.Err()
	}
	return x.pool.inTx(ctx, func(tx pgx.Tx) error {
		id, err := x.turn(ctx, tx, collection, false)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		totals := totals{}
		if err := totals.remove(ctx, tx, id, ids); err != nil {
			return err
		}
		return totals.keep(ctx, tx, id)
	})
}

// IDs yields the IDs of all records, sorted. Those written or deleted meanwhile may or may not be seen.
func (x *Sparse) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return pages.Join(ctx, "", nil, func(after string) (page []string, last string, err error) {
		if !isText(collection) {
			return nil, "", nil
		}
		err = x.pool.do(ctx, func(ctx context.Context) (err error) {
			page, last, err = idPage(ctx, x.pool, `
				select p.id from word_passages p join word_collections c on c.id = p.collection
				where c.name = $1 and p.id > $2 order by p.id limit $3`, collection, after)
			return err
		})
		return page, last, err
	})
}

// Drop removes the collection; an unknown one is not an error.
func (x *Sparse) Drop(ctx context.Context, collection string) error {
	if !isText(collection) {
		return ctx.Err()
	}
	return x.pool.inTx(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `delete from word_collections where name = $1 returning id`, collection).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, `delete from word_postings where collection = $1`, id)
		}
		return err
	})
}
